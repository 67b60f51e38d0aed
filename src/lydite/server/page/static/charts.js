// Curves of a training stage: drawn by uPlot, cursors together, grown while the run goes on.
import { throttled, watch } from "./live.js";

const section = document.getElementById("training");
const { run, topic } = section.dataset;
const data = { line: [], step: [], columns: {} };
const curves = { data, figures: [] };
let place = null; // of the figures; there is none before the first step
let names = [];

const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function told(value, share) {
  if (value == null) return "–";
  if (share) return `${(100 * value).toFixed(1)} %`;
  const size = Math.abs(value);
  if (size !== 0 && (size < 0.001 || size >= 1e6)) return value.toExponential(1).replace("-", "−");
  return value.toLocaleString("en", { maximumSignificantDigits: 3 }).replace("-", "−");
}

function ticked(value, apart) {
  if (Math.abs(value) >= 1e5 || (value !== 0 && apart < 1e-3)) return value.toExponential(1).replaceAll("-", "−");
  const places = `${Number(apart.toPrecision(4))}`.split(".")[1]?.length ?? 0;
  return value.toFixed(Math.min(places, 4)).replace("-", "−");
}

async function load(from) {
  const { stage, points, series } = place.dataset;
  const query = new URLSearchParams({ keys: names.join(","), from, points });
  const answer = await fetch(`${series}?${query}`);
  if (!answer.ok) return 0;
  const found = await answer.json();
  let added = 0;
  const behind = data.line.length ? data.line[data.line.length - 1] : 0;
  found.line.forEach((line, at) => {
    if (line <= behind || String(found.stage[at]) !== stage) return;
    const step = found.step[at];
    while (data.step.length && data.step[data.step.length - 1] >= step) { // a resumed stage took these steps again
      data.step.pop(); data.line.pop();
      for (const name of names) data.columns[name].pop();
    }
    data.line.push(line);
    data.step.push(step);
    for (const name of names) data.columns[name].push(found.columns[name]?.[at] ?? null);
    added += 1;
  });
  return added;
}

function columns(figure) {
  const main = figure.lines[0].key;
  const made = [data.step];
  for (const line of figure.lines) {
    const column = data.columns[line.key];
    if (line.role === "band") {
      made.push(column.map((width, at) => (width == null || data.columns[main][at] == null ? null : data.columns[main][at] + width)));
      made.push(column.map((width, at) => (width == null || data.columns[main][at] == null ? null : data.columns[main][at] - width)));
    } else made.push(column);
  }
  return made;
}

function options(figure, width) {
  const [accent, second, grid, text] = ["--accent", "--flag", "--line", "--muted"].map(token);
  const font = `11px ${token("--sans")}`;
  const lines = [{ label: "step", value: (_, value) => (value == null ? "–" : value) }];
  const bands = [];
  for (const line of figure.lines) {
    if (line.role === "band") {
      const at = lines.length;
      const plain = { width: 0, points: { show: false }, stroke: accent };
      lines.push({ ...plain, label: "+ std", value: (_, value) => told(value) }, { ...plain, label: "− std", value: (_, value) => told(value) });
      bands.push({ series: [at, at + 1], fill: `${accent}26` });
    } else {
      const main = line.role === "main";
      lines.push({
        label: line.label, stroke: main ? accent : second, width: main ? 1.75 : 1.25, dash: main ? undefined : [4, 3], spanGaps: true,
        points: { show: data.step.length < 2, size: 5 }, value: (_, value) => told(value, figure.share),
      });
    }
  }
  const range = (_, low, high) => {
    if (low == null) return [0, 1];
    if (figure.share) return [0, Math.min(1, Math.max(high * 1.1, 0.05))];
    const pad = (high - low) * 0.08 || Math.abs(high) * 0.1 || 0.1;
    return [figure.zero && low >= 0 ? 0 : low - pad, high + pad];
  };
  const axis = { stroke: text, font, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1, size: 4 } };
  return {
    width, height: 170, padding: [8, 14, 0, 0],
    cursor: { sync: { key: run }, drag: { x: true, y: false, dist: 5 }, points: { size: 6 } },
    legend: { show: false },
    hooks: { setCursor: [(plot) => valuesAt(figure, plot.cursor.idx)] },
    scales: { x: { time: false, range: (_, low, high) => (low === high ? [low - 1, high + 1] : [low, high]) }, y: { range } },
    axes: [
      { ...axis, size: 26, space: 50, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000] },
      { ...axis, size: 48, space: 30, values: (_, ticks, __, ___, apart) => ticks.map((tick) => (figure.share ? `${+(100 * tick).toFixed(2)} %` : ticked(tick, apart))) },
    ],
    series: lines,
    bands,
  };
}

function draw(figure) {
  const { groups, stage } = place.dataset;
  const box = figure.element.querySelector(".plot");
  const width = Math.floor(box.clientWidth);
  if (!width || !data.step.length) return; // behind the switch: drawn when it opens
  figure.plot?.destroy();
  box.replaceChildren();
  figure.plot = new uPlot(options(figure, width), columns(figure), box);
  box.setAttribute("role", "img");
  let down = null;
  figure.plot.over.addEventListener("mousedown", (event) => { down = event.clientX; });
  figure.plot.over.addEventListener("click", (event) => {
    const at = figure.plot.cursor.idx;
    if (groups && at != null && down != null && Math.abs(event.clientX - down) < 4) location.assign(`${groups}?${new URLSearchParams({ stage, step: data.step[at] })}`);
  });
  label(figure);
}

/** The values of a step, or of the last one that has any, beside the title. */
function valuesAt(figure, at) {
  const column = data.columns[figure.lines[0].key];
  let index = at;
  if (index == null) for (index = column.length - 1; index > 0 && column[index] == null;) index -= 1;
  const values = figure.lines.map((line) => {
    const value = data.columns[line.key][index];
    return line.role === "band" ? `± ${told(Math.abs(value) < 1e-6 ? 0 : value)}` : told(value, figure.share);
  });
  const shown = figure.lines[1]?.role === "second" ? values.join(" · ") : values.join(" ");
  figure.element.querySelector(".now").textContent = at == null ? shown : `step ${data.step[index]}: ${shown}`;
}

function label(figure) {
  const column = data.columns[figure.lines[0].key].filter((value) => value != null);
  const last = column[column.length - 1];
  valuesAt(figure, null);
  figure.element.querySelector(".plot").setAttribute("aria-label", `${figure.title}: ${column.length} steps, from ${told(column[0], figure.share)} to ${told(last, figure.share)}`);
}

function drawAll() { for (const figure of curves.figures) draw(figure); }

/** Take up the figures that the page holds now, and draw them. */
async function begin() {
  place = section.querySelector("#charts");
  if (!place) return;
  for (const figure of curves.figures) figure.plot?.destroy();
  curves.figures = [...section.querySelectorAll("figure[data-chart]")].map((element) => ({ element, ...JSON.parse(element.dataset.chart) }));
  names = [...new Set(curves.figures.flatMap((figure) => figure.lines.map((line) => line.key)))];
  data.line.length = data.step.length = 0;
  data.columns = Object.fromEntries(names.map((name) => [name, []]));
  section.querySelector("#more-charts")?.addEventListener("toggle", () => { for (const figure of curves.figures) if (!figure.plot) draw(figure); });
  await load(Number(place.dataset.first));
  drawAll();
  place.dataset.drawn = "1";
  sizes.disconnect();
  sizes.observe(place);
}

const sizes = new ResizeObserver(() => {
  for (const figure of curves.figures) {
    const width = Math.floor(figure.element.querySelector(".plot").clientWidth);
    if (figure.plot && width && width !== figure.plot.width) figure.plot.setSize({ width, height: 170 });
  }
});

const grow = throttled(async () => {
  if (!place) return;
  const last = data.line.length ? data.line[data.line.length - 1] : 0;
  if (!await load(last + 1)) return;
  for (const figure of curves.figures) if (figure.plot) { figure.plot.setData(columns(figure)); label(figure); } else draw(figure);
  const step = data.step[data.step.length - 1];
  section.querySelector("#curves-count").textContent = `${step.toLocaleString("en")} step${step === 1 ? "" : "s"}`;
  const open = section.querySelector("input[name=step]");
  if (open) { open.max = step; if (document.activeElement !== open) open.value = step; }
}, 1000);

/** A stage that begins: its tab is shown, and its curves where there were none, or those of the stage before it. */
const unfold = throttled(async () => {
  const answer = await fetch(section.dataset.src, { headers: { "X-Fragment": "1" } });
  if (!answer.ok) return;
  const made = document.createElement("template");
  made.innerHTML = await answer.text();
  const fresh = made.content.querySelector("#training");
  section.dataset.stages = fresh.dataset.stages;
  section.replaceChildren(...fresh.childNodes);
  await begin();
}, 2000);

watch(topic, ["metrics"], (event) => {
  const known = section.dataset.stages.split(" ");
  if (!place || !known.includes(String(event.data.stage))) unfold(); else grow();
});
document.addEventListener("lydite:theme", drawAll);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
await begin();
export { curves };
