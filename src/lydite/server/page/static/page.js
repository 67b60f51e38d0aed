// What every page has: theme, keys, times that stay true, copying, opening of long texts, live parts.
import { start as keys, toast } from "./keys.js";
import { start as live } from "./live.js";

const root = document.documentElement;

function theme() {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try { localStorage.setItem("lydite-theme", root.dataset.theme); } catch { /* for this page only */ }
  document.dispatchEvent(new CustomEvent("lydite:theme"));
}

function ago(then, now) {
  const passed = (now - then) / 1000;
  for (const [unit, length] of [["d", 86400], ["h", 3600], ["min", 60]]) {
    if (passed >= length) return `${Math.floor(passed / length)} ${unit} ago`;
  }
  return passed < 10 ? "just now" : `${Math.floor(passed)} s ago`;
}

function times() {
  const now = Date.now();
  for (const element of document.querySelectorAll("time[data-ago]")) {
    const then = Date.parse(element.dateTime);
    if (!Number.isNaN(then)) element.textContent = ago(then, now);
  }
}

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch { // no secure context
    const area = Object.assign(document.createElement("textarea"), { value: text });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  toast("Copied");
}

async function more(link) {
  const answer = await fetch(link.dataset.more, { headers: { "X-Fragment": "1" } });
  if (!answer.ok) { location.assign(link.href); return; }
  const said = link.closest(".said");
  said.innerHTML = await answer.text(); // made by the same templates, escaped there
  said.querySelector("pre")?.focus();
}

document.addEventListener("click", (event) => {
  const at = event.target.closest?.("[data-theme-switch], [data-copy], [data-more]");
  if (!at) return;
  if ("themeSwitch" in at.dataset) theme();
  else if ("copy" in at.dataset) copy(at.dataset.copy);
  else if (!event.ctrlKey && !event.metaKey && !event.shiftKey) { event.preventDefault(); more(at); }
});
document.addEventListener("submit", (event) => {
  const question = event.target.dataset?.confirm;
  if (question && !confirm(question)) event.preventDefault();
  else if (event.target.matches(".filters")) { // addresses without empty parameters
    for (const field of event.target.elements) if (field.name && !field.value) field.disabled = true;
    setTimeout(() => { for (const field of event.target.elements) field.disabled = false; });
  }
});
addEventListener("pageshow", times);
setInterval(times, 15000);
const reveal = (place) => { for (const element of place.querySelectorAll("[data-copy], .tools > button")) element.hidden = false; };
reveal(document);
document.addEventListener("lydite:replaced", (event) => { reveal(event.target); times(); });
keys({ copy });
live();
