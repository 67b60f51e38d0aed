// The curves of two runs over each other: A solid in the accent's colour, B dashed in gold.
const place = document.getElementById("overlay");
const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const figures = [...place.querySelectorAll("figure[data-key-name]")].map((element) => ({
  element, key: element.dataset.keyName, share: element.dataset.share === "1", zero: element.dataset.zero === "1",
}));
const keys = figures.map((figure) => figure.key);

function told(value, share) {
  if (value == null) return "–";
  if (share) return `${(100 * value).toFixed(1)} %`;
  const size = Math.abs(value);
  if (size !== 0 && (size < 0.001 || size >= 1e6)) return value.toExponential(1).replace("-", "−");
  return value.toLocaleString("en", { maximumSignificantDigits: 3 }).replace("-", "−");
}

async function load(address, stage) {
  const answer = await fetch(`${address}&${new URLSearchParams({ keys: keys.join(","), points: 1000 })}`);
  if (!answer.ok) return new Map();
  const found = await answer.json();
  const steps = new Map(); // a step that a resumed stage took again counts as it came out last
  found.step.forEach((step, at) => {
    if (String(found.stage[at]) === stage) steps.set(step, Object.fromEntries(keys.map((key) => [key, found.columns[key]?.[at] ?? null])));
  });
  return steps;
}

const [a, b] = await Promise.all([load(place.dataset.a, place.dataset.stageA), load(place.dataset.b, place.dataset.stageB)]);
const steps = [...new Set([...a.keys(), ...b.keys()])].sort((one, two) => one - two);

function draw(figure) {
  const box = figure.element.querySelector(".plot");
  const width = Math.floor(box.clientWidth);
  if (!width || !steps.length) return;
  figure.plot?.destroy();
  box.replaceChildren();
  const [first, second, grid, text] = ["--accent", "--gold", "--line", "--muted"].map(token);
  const axis = { stroke: text, font: `11px ${token("--sans")}`, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1, size: 4 } };
  const line = (label, stroke, dash) => ({ label, stroke, dash, width: 1.75, spanGaps: true, points: { show: steps.length < 3, size: 5 }, value: (_, value) => told(value, figure.share) });
  const range = (_, low, high) => {
    if (low == null) return [0, 1];
    if (figure.share) return [0, Math.min(1, Math.max(high * 1.1, 0.05))];
    const pad = (high - low) * 0.08 || Math.abs(high) * 0.1 || 0.1;
    return [figure.zero && low >= 0 ? 0 : low - pad, high + pad];
  };
  figure.plot = new uPlot({
    width, height: 190, padding: [8, 8, 0, 0],
    cursor: { sync: { key: "overlay" }, drag: { x: true, y: false, dist: 5 }, points: { size: 6 } },
    scales: { x: { time: false, range: (_, low, high) => (low === high ? [low - 1, high + 1] : [low, high]) }, y: { range } },
    axes: [
      { ...axis, size: 26, space: 50, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000] },
      { ...axis, size: 48, space: 30, values: (_, ticks) => ticks.map((tick) => (figure.share ? `${+(100 * tick).toFixed(2)} %` : told(tick))) },
    ],
    series: [{ label: "step", value: (_, value) => (value == null ? "–" : value) }, line("A", first), line("B", second, [6, 4])],
  }, [steps, ...[a, b].map((side) => steps.map((step) => side.get(step)?.[figure.key] ?? null))], box);
  box.setAttribute("role", "img");
  box.setAttribute("aria-label", `${figure.element.querySelector("b").textContent} of A and B by step`);
}

const drawAll = () => { for (const figure of figures) draw(figure); };
drawAll();
place.dataset.drawn = "1";
new ResizeObserver(() => {
  for (const figure of figures) {
    const width = Math.floor(figure.element.querySelector(".plot").clientWidth);
    if (figure.plot && width && width !== figure.plot.width) figure.plot.setSize({ width, height: 190 });
  }
}).observe(place);
document.addEventListener("lydite:theme", drawAll);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
