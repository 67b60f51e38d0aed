// Attempts of a group: the second one that is ticked leads to the difference.
const form = document.getElementById("attempts");
const boxes = [...form.querySelectorAll("[data-pick]")];
const button = form.querySelector(".compare");

function count() {
  const picked = boxes.filter((box) => box.checked).length;
  button.disabled = picked !== 2;
  return picked;
}

form.addEventListener("change", () => { if (count() === 2) form.requestSubmit(); });
addEventListener("pageshow", () => { for (const box of boxes) box.checked = false; count(); });
