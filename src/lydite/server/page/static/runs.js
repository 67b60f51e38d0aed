// The list of runs: lines that changed are fetched again, new runs come in at the top.
import { replace, throttled, watch } from "./live.js";

const table = document.getElementById("runs");
const looks = new Map(); // slug to a throttled look at its line

const lineOf = (slug) => document.getElementById(`run-${slug}`);

function look(slug) {
  if (!looks.has(slug)) {
    looks.set(slug, throttled(async () => {
      const line = lineOf(slug);
      if (line) { await replace(line, line.dataset.src); return; }
      if (!table || table.dataset.first !== "1") { document.getElementById("runs-new").hidden = false; return; }
      const place = document.createElement("tr");
      table.tBodies[0].prepend(place);
      if (await replace(place, `/runs/${encodeURIComponent(slug)}/row`) === place) { place.remove(); return; }
      document.getElementById("runs-none")?.remove();
      table.parentElement.hidden = false;
      const count = document.getElementById("runs-count");
      count.dataset.total = Number(count.dataset.total) + 1;
      count.textContent = `${Number(count.dataset.total).toLocaleString("en")} in all`;
    }));
  }
  looks.get(slug)();
}

watch("*", ["run", "metrics", "rollouts", "flags", "review", "status", "event"], (event) => {
  const [kind, name] = [event.topic.slice(0, 3), event.topic.slice(4)];
  if (kind === "run") look(name);
  else for (const line of document.querySelectorAll(`[data-job="${CSS.escape(name)}"]`)) look(line.dataset.run);
});
