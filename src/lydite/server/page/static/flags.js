// Flags before a person: what is decided is replaced by htmx; here the next open one is gone to, and the last decision
// can be undone from wherever one is.

let last = null; // id of the card that was decided last

const cards = () => [...document.querySelectorAll(".flag-card")];

function go(card) {
  for (const other of document.querySelectorAll("[data-row].here")) other.classList.remove("here");
  card.classList.add("here");
  card.tabIndex = -1;
  card.focus({ preventScroll: true });
  card.scrollIntoView({ block: "nearest" });
}

let asked = null; // the card that is being decided, and whether it was decided by hand of somebody who goes on

document.addEventListener("submit", (event) => {
  const form = event.target.closest(".decide");
  if (form) asked = { id: form.closest(".flag-card").id, decision: event.submitter?.value };
}, true);

document.addEventListener("htmx:after:swap", () => {
  if (!asked) return;
  const { id, decision } = asked;
  asked = null;
  const card = document.getElementById(id);
  if (!card) return;
  card.dispatchEvent(new CustomEvent("lydite:replaced", { bubbles: true }));
  last = decision === "withdrawn" ? null : id;
  const undo = document.querySelector("[data-undo-last]");
  if (undo) undo.hidden = !last;
  const all = cards();
  const at = all.indexOf(card);
  const open = document.querySelector("[data-inbox]") && last
    ? [...all.slice(at + 1), ...all.slice(0, at)].find((one) => !("decided" in one.dataset))
    : null;
  go(open ?? card);
});

document.addEventListener("click", (event) => {
  if (!event.target.closest?.("[data-undo-last]")) return;
  const card = last && document.getElementById(last);
  card?.querySelector("button[value=withdrawn]")?.click();
});

if (document.querySelector("[data-inbox]")) {
  const named = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const first = named || cards().find((card) => !("decided" in card.dataset)) || cards()[0];
  if (first) first.classList.add("here");
}
