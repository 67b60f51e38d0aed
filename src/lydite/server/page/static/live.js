// What happens on the server, as it happens: one stream of events for all that a page watches.
//
// Closed while the page is out of sight (browsers give a server six connections for all tabs together); when it is seen
// again it goes on behind the last event that it knows.

const KINDS = ["run", "metrics", "rollouts", "flags", "review", "status", "event"];
const watchers = []; // {topic, kinds, callback}
const WAIT = 700; // milliseconds between two looks at the same part
let source = null;
let last = document.body.dataset.seen ?? null; // number of the last event that the page knows
let retry = 0;

function told(state) {
  const place = document.getElementById("live");
  if (!place) return;
  place.hidden = false;
  place.dataset.state = state;
  place.lastElementChild.textContent = { on: "live", off: "paused", lost: "reconnecting" }[state];
}

function heard(message, kind) {
  if (message.lastEventId) last = message.lastEventId;
  let event;
  try { event = JSON.parse(message.data); } catch { return; }
  event.kind ??= kind;
  for (const watcher of watchers) {
    if ((watcher.topic === "*" || watcher.topic === event.topic) && watcher.kinds.includes(event.kind)) watcher.callback(event);
  }
}

function open() {
  if (source || !watchers.length || document.hidden) return;
  const topics = new Set(watchers.map((watcher) => watcher.topic));
  const query = new URLSearchParams();
  if (!topics.has("*") && topics.size <= 20) for (const topic of topics) query.append("topic", topic);
  if (last !== null) query.set("after", last);
  source = new EventSource(`/v1/rlvr/events?${query}`);
  source.onopen = () => { retry = 0; told("on"); };
  source.onmessage = (message) => heard(message, "message");
  for (const kind of KINDS) source.addEventListener(kind, (message) => heard(message, kind));
  source.addEventListener("lost", () => location.reload()); // events between are no longer kept
  source.onerror = () => {
    told("lost");
    if (source?.readyState !== EventSource.CLOSED) return; // it tries again by itself, from the last id
    close();
    retry = Math.min(retry + 1, 6);
    setTimeout(open, 500 * 2 ** retry);
  };
}

function close() {
  source?.close();
  source = null;
}

/** Call back for every event of a topic ("*": all) and of these kinds. */
export function watch(topic, kinds, callback) {
  watchers.push({ topic, kinds, callback });
  if (source) { close(); open(); }
}

/** Call at once, then not again before the wait is over; what came in between counts once. */
export function throttled(work, wait = WAIT) {
  let timer = 0;
  let again = false;
  return function call() {
    if (timer) { again = true; return; }
    again = false;
    work();
    timer = setTimeout(() => { timer = 0; if (again) call(); }, wait);
  };
}

/** Fetch a part of the page again and put it in the place of an element. */
export async function replace(element, url) {
  const answer = await fetch(url, { headers: { "X-Fragment": "1" } });
  if (!answer.ok) return element;
  const made = document.createElement("template");
  made.innerHTML = await answer.text(); // made by the same templates, escaped there; scripts in it would not run
  const fresh = made.content.firstElementChild;
  if (!fresh || fresh.outerHTML === element.outerHTML) return element;
  const here = element.classList.contains("here");
  const focused = element.contains(document.activeElement);
  element.replaceWith(fresh);
  if (here) fresh.classList.add("here");
  if (focused) { fresh.tabIndex = -1; fresh.focus({ preventScroll: true }); }
  globalThis.htmx?.process(fresh);
  fresh.dispatchEvent(new CustomEvent("lydite:replaced", { bubbles: true }));
  return fresh;
}

function part(element) {
  let now = element;
  const look = throttled(async () => { now = await replace(now, now.dataset.liveSrc); }, Number(element.dataset.liveWait ?? WAIT));
  const kinds = (element.dataset.liveKinds ?? KINDS.join(" ")).split(" ");
  for (const topic of element.dataset.live.split(" ")) watch(topic, kinds, look);
}

export function start() {
  for (const element of document.querySelectorAll("[data-live][data-live-src]")) part(element);
  document.addEventListener("visibilitychange", () => { if (document.hidden) { close(); if (watchers.length) told("off"); } else open(); });
  addEventListener("pagehide", close);
  addEventListener("pageshow", open);
  setTimeout(open);
}
