// What all pages do: follow changes, keep times fresh, copy commands, keys, and say what is wrong.

const problem = document.getElementById("problem");
const live = document.getElementById("live");

export function showProblem(text) {
  problem.textContent = text;
  problem.hidden = !text;
}

// --- changes: one stream for this page, while it is visible and has something that follows

let source = null;
let lost = false;
let missed = false;

// A part that is being read ignores the event, and what it gets may be older than the change:
// all are read once more then.
export function announceChange() {
  missed = document.querySelector(".live-part.htmx-request") !== null;
  document.body.dispatchEvent(new CustomEvent("footplate:change"));
}
document.body.addEventListener("htmx:afterRequest", () => {
  if (missed) setTimeout(() => missed && announceChange());
});

function follow() {
  const wanted = !document.hidden && document.querySelector(".live-part") !== null;
  if (!wanted) {
    source?.close();
    source = null;
    return;
  }
  if (source !== null) return;
  source = new EventSource("/console/changes");
  source.addEventListener("change", () => {
    if (lost) showProblem("");
    lost = false;
    live.hidden = false;
    live.textContent = "live";
    announceChange();
  });
  source.addEventListener("error", () => {
    lost = true;
    live.textContent = "";
    live.hidden = true;
    showProblem("The server doesn't answer. This page updates again when the server answers.");
    if (source.readyState === EventSource.CLOSED) {
      source = null;
      setTimeout(again, 3000);
    }
  });
}

// A stream that was refused: the server is starting, or the session has ended.
async function again() {
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" }, redirect: "manual" });
    if (answer.type === "opaqueredirect") location.reload();
  } catch {
    // Still away.
  }
  follow();
}

document.addEventListener("visibilitychange", follow);
window.addEventListener("pagehide", () => source?.close());
window.addEventListener("pageshow", (event) => {
  if (event.persisted) {
    source = null;
    follow();
  }
});
follow();

// --- answers of the server that aren't what was asked for

document.body.addEventListener("htmx:responseError", (event) => {
  const { status, responseText, getResponseHeader } = event.detail.xhr;
  if (status === 401) return;
  const plain = (event.detail.xhr.getResponseHeader("Content-Type") ?? "").startsWith("text/plain");
  showProblem(plain && responseText ? responseText : `The server answered ${status}.`);
});
document.body.addEventListener("htmx:sendError", () => {
  showProblem("The server doesn't answer. This page updates again when the server answers.");
  lost = true;
});
document.body.addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.successful && lost) {
    lost = false;
    showProblem("");
  }
});

// --- times: in the reader's zone, ages that grow

const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });

export function duration(seconds) {
  let whole = Math.max(0, Math.floor(seconds));
  const units = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const at = Math.max(0, units.findIndex(([size]) => whole >= size));
  const parts = [];
  for (const [size, unit] of whole ? units.slice(at, at + 2) : [[1, "s"]]) {
    const count = Math.floor(whole / size);
    whole %= size;
    if (count || !parts.length) parts.push(`${count} ${unit}`);
  }
  return parts.join(" ");
}

function age(seconds) {
  if (seconds < 1) return "now";
  const text = duration(seconds);
  return `${seconds < 60 ? text : text.split(" ").slice(0, 2).join(" ")} ago`;
}

function tick() {
  const now = Date.now();
  for (const each of document.querySelectorAll("time[data-age]")) {
    const then = new Date(each.dateTime);
    each.textContent = age((now - then) / 1000);
    each.title = absolute.format(then);
  }
  for (const each of document.querySelectorAll("time[data-absolute]")) {
    const then = new Date(each.dateTime);
    each.textContent = moment.format(then);
    each.title = absolute.format(then);
  }
  for (const each of document.querySelectorAll("[data-since]")) {
    each.textContent = duration((now - new Date(each.dataset.since)) / 1000);
  }
}

tick();
setInterval(() => document.hidden || tick(), 1000);
document.body.addEventListener("htmx:afterSettle", tick);

// --- keys, theme, copying

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, select, textarea, [contenteditable], .xterm");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "n" || event.key === "p") {
    document.querySelector(`a[data-key="${event.key}"]`)?.click();
  }
  if (event.key === "/") {
    const filter = document.querySelector("[data-filter]");
    if (filter) {
      event.preventDefault();
      filter.focus();
      filter.select();
    }
  }
});

const theme = document.getElementById("theme");
theme.hidden = false;
theme.addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try {
    localStorage.setItem("footplate-theme", root.dataset.theme);
  } catch {
    // It holds for this page.
  }
  window.dispatchEvent(new CustomEvent("footplate:theme"));
});

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const title = button.textContent;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Select the text by hand";
  }
  setTimeout(() => (button.textContent = title), 2000);
});

// A filter without fields that are empty makes a URL that can be read.
document.addEventListener("submit", (event) => {
  if (!event.target.matches("form.filters")) return;
  for (const field of event.target.elements) {
    if (field.name && !field.value) field.disabled = true;
  }
  setTimeout(() => {
    for (const field of event.target.elements) field.disabled = false;
  });
});
for (const select of document.querySelectorAll("form.filters select")) {
  select.addEventListener("change", () => select.form.requestSubmit());
}
