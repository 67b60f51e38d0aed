// Keys, as the page declares them: see the head of macros.html. Never active while somebody types.

let prefix = "";
let prefixTimer = 0;
let copyText = () => {};

const visible = (element) => element.getClientRects().length > 0;
const typing = (element) => element?.closest?.("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable=true]");

export function toast(text) {
  const place = document.getElementById("toast");
  if (!place) return;
  place.textContent = text;
  place.classList.add("on");
  clearTimeout(toast.timer);
  toast.timer = setTimeout(() => { place.classList.remove("on"); place.textContent = ""; }, 1600);
}

const rows = () => [...document.querySelectorAll("[data-row]")].filter(visible);
const current = () => document.activeElement?.closest?.("[data-row]") ?? document.querySelector("[data-row].here");

function go(row) {
  if (!row) return;
  for (const other of document.querySelectorAll("[data-row].here")) other.classList.remove("here");
  row.classList.add("here");
  if (!row.hasAttribute("tabindex")) row.tabIndex = -1;
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

function move(by) {
  const all = rows();
  const at = all.indexOf(current());
  go(at < 0 ? all[by > 0 ? 0 : all.length - 1] : all[Math.min(all.length - 1, Math.max(0, at + by))]);
}

function fold(open) {
  const place = current() ?? document.querySelector("main");
  for (const details of place.querySelectorAll("details")) details.open = open;
  if (open && current()) for (const link of place.querySelectorAll("[data-more]")) link.click();
}

const BUILT_IN = {
  j: ["next row", () => move(1)],
  k: ["previous row", () => move(-1)],
  e: ["expand", () => fold(true)],
  x: ["collapse", () => fold(false)],
  y: ["copy the link", () => copyText(new URL(current()?.dataset.link ?? location.href, location.href).href)],
  c: ["pick for a comparison", () => (current() ?? document).querySelector("[data-pick]")?.click()],
};

function declared(key) {
  const found = [...document.querySelectorAll("[data-key]")].filter((element) => element.dataset.key === key && !element.disabled);
  const row = current();
  return found.find((element) => row?.contains(element)) ?? found.find((element) => !element.closest("[data-row]")) ?? found[0];
}

function press(element) {
  if (element.matches("input:not([type=checkbox]), textarea, select")) { element.focus(); element.select?.(); } else element.click();
}

function opened(row) {
  const href = row.dataset.href ?? row.querySelector("a[href]")?.href;
  if (href) location.assign(href);
}

function help() {
  const dialog = document.getElementById("keys");
  const list = dialog.querySelector("dl");
  const lines = new Map();
  for (const element of document.querySelectorAll("[data-key][data-help]")) lines.set(element.dataset.key, element.dataset.help);
  const has = { j: "[data-row]", k: "[data-row]", e: "details, [data-more]", x: "details", c: "[data-pick]" };
  for (const [key, [label]] of Object.entries(BUILT_IN)) {
    if (!lines.has(key) && (!has[key] || document.querySelector(`main :is(${has[key]})`))) lines.set(key, label);
  }
  list.replaceChildren(...[...lines].flatMap(([key, label]) => {
    const term = document.createElement("dt");
    for (const part of key.split(" ")) term.append(Object.assign(document.createElement("kbd"), { textContent: part }));
    return [term, Object.assign(document.createElement("dd"), { textContent: label })];
  }));
  dialog.showModal();
}

function down(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (typing(event.target)) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "Enter" && event.target.matches?.("[data-row]")) { opened(event.target); return; }
  if (event.key.length !== 1) return;
  const key = prefix ? `${prefix} ${event.key}` : event.key;
  prefix = "";
  clearTimeout(prefixTimer);
  const element = declared(key);
  if (element) { event.preventDefault(); press(element); return; }
  if (BUILT_IN[key]) { event.preventDefault(); BUILT_IN[key][1](); return; }
  if (document.querySelector(`[data-key^="${CSS.escape(event.key)} "]`)) {
    prefix = event.key;
    prefixTimer = setTimeout(() => { prefix = ""; }, 1200);
  }
}

export function start({ copy }) {
  copyText = copy;
  document.addEventListener("keydown", down);
  document.addEventListener("click", (event) => { if (event.target.closest?.("[data-keys-open]")) help(); });
}
