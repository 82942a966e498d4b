// The jobs that are ticked stay ticked when the rows are read again; the buttons say how many they are.

const form = document.getElementById("chosen");
const chosen = new Set();
const boxes = () => [...document.querySelectorAll('#rows input[name="job"]')];

function show() {
  for (const box of boxes()) box.checked = chosen.has(box.value);
  const all = document.getElementById("choose-all");
  if (all) {
    all.hidden = false;
    all.checked = boxes().length > 0 && boxes().every((box) => box.checked);
  }
  form.hidden = boxes().length === 0;
  const count = chosen.size;
  document.getElementById("compare").disabled = count < 2 || count > 5;
  document.getElementById("delete").disabled = count === 0;
  document.getElementById("chosen-count").textContent = count ? `${count} chosen` : "";
}

document.addEventListener("change", (event) => {
  const { target } = event;
  const changed = target.id === "choose-all" ? boxes() : target.name === "job" ? [target] : [];
  for (const box of changed) chosen[target.checked ? "add" : "delete"](box.value);
  if (changed.length) show();
});
document.body.addEventListener("htmx:afterSettle", () => {
  const there = new Set(boxes().map((box) => box.value));
  for (const name of chosen) if (!there.has(name)) chosen.delete(name); // it is on another page now
  show();
});
window.addEventListener("pageshow", () => {
  for (const box of boxes()) if (box.checked) chosen.add(box.value); // the browser has kept it
  show();
});
show();
