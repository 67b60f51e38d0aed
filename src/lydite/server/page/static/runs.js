// The list of runs: lines that changed are fetched again, new runs come in at the top, deleted ones go.
import { replace, throttled, watch } from "./live.js";

const table = document.getElementById("runs");
const count = document.getElementById("runs-count");
const looks = new Map(); // slug to a throttled look at its line
let newcomers = Promise.resolve(); // one after the other

const lineOf = (slug) => document.getElementById(`run-${slug}`);
const begun = (line) => Date.parse(line?.querySelector("time:last-of-type")?.dateTime ?? "") || 0;

function counted(by) {
  count.dataset.total = Number(count.dataset.total) + by;
  count.textContent = `${Number(count.dataset.total).toLocaleString("en")} in all`;
}

function look(slug) {
  if (!looks.has(slug)) looks.set(slug, throttled(async () => { const line = lineOf(slug); if (line) await replace(line, line.dataset.src); }));
  looks.get(slug)();
}

async function welcome(slug) {
  if (lineOf(slug)) return;
  if (table?.dataset.first !== "1") { document.getElementById("runs-new").hidden = false; return; }
  const place = document.createElement("tr");
  const first = table.tBodies[0].rows[0];
  table.tBodies[0].prepend(place);
  const line = await replace(place, `/runs/${encodeURIComponent(slug)}/row`);
  if (line === place || (first && begun(line) < begun(first))) { line.remove(); return; } // one of a later page
  document.getElementById("runs-none")?.remove();
  table.parentElement.hidden = false;
  counted(1);
}

watch("*", ["run", "metrics", "rollouts", "flags", "review", "status", "event"], (event) => {
  const [kind, name] = [event.topic.slice(0, 3), event.topic.slice(4)];
  if (kind !== "run") for (const line of document.querySelectorAll(`[data-job="${CSS.escape(name)}"]`)) look(line.dataset.run);
  else if (event.kind === "run" && event.data.state === "deleted") { if (lineOf(name)) { lineOf(name).remove(); counted(-1); } }
  else if (lineOf(name)) look(name);
  else if (event.kind === "run") newcomers = newcomers.then(() => welcome(name)).catch(() => {});
});
