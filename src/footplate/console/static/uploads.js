// Uploads files to the folder of a bucket that the page shows, one after the other, and then shows it again.

import { showProblem } from "./console.js";

const form = document.getElementById("upload");
const status = document.getElementById("upload-status");
form.hidden = false;

document.addEventListener("submit", (event) => {
  const question = event.target.dataset.confirm;
  if (question && !confirm(question)) event.preventDefault();
});

async function send(file) {
  const query = new URLSearchParams({ name: form.dataset.folder + file.name });
  const headers = { "HX-Request": "true", "Content-Type": "application/octet-stream" };
  const answer = await fetch(`${form.dataset.base}?${query}`, { method: "POST", body: file, headers });
  if (answer.ok) return;
  const text = await answer.text();
  let message = text;
  try {
    message = JSON.parse(text).error.message;
  } catch {
    // A sentence as it is.
  }
  throw new Error(`${file.name}: ${message || `the server answered ${answer.status}`}`);
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const files = [...form.elements.files.files];
  const there = new Set([...document.querySelectorAll("#objects th[scope='row'] a")].map((each) => each.textContent));
  const again = files.filter((file) => there.has(file.name)).map((file) => file.name);
  if (again.length && !confirm(`Replace ${again.join(", ")}?`)) return;
  const button = form.querySelector("button");
  button.disabled = true;
  showProblem("");
  try {
    for (const [at, file] of files.entries()) {
      status.textContent = `Uploading ${file.name}, ${at + 1} of ${files.length}.`;
      await send(file);
    }
    location.reload();
  } catch (error) {
    status.textContent = "";
    showProblem(error instanceof TypeError ? "The server doesn't answer. Try again later." : error.message);
  } finally {
    button.disabled = false;
  }
});
