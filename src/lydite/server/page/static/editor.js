// The editor of a task: a click on "line 12" goes there; leaving with changes asks first.
const form = document.getElementById("editor");
const area = form.querySelector("textarea");
const before = () => JSON.stringify([...new FormData(form)]);
const saved = before();
let sending = false;

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-line]");
  if (!button) return;
  const lines = area.value.split("\n");
  const at = Math.min(Number(button.dataset.line), lines.length) - 1;
  const start = lines.slice(0, at).join("\n").length + (at ? 1 : 0);
  area.focus();
  area.setSelectionRange(start, start + lines[at].length);
  const height = area.scrollHeight / lines.length;
  area.scrollTop = Math.max(0, at * height - area.clientHeight / 3);
});
form.addEventListener("submit", () => { sending = true; });
addEventListener("beforeunload", (event) => { if (!sending && before() !== saved) event.preventDefault(); });
for (const element of document.querySelectorAll("[data-needs-script]")) element.hidden = false;
