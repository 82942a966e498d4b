// The log viewer. A window of lines is in the page; scrolling moves it through a log of any length.
// A cursor is a position in the log; that of a line is the one after it.

import { appendAnsi } from "./ansi.js";
import { showProblem } from "./console.js";
import { ask as askFor, jobHasEnded as ended } from "./drawing.js";
import { MatchCount } from "./log_count.js";
import { findMatches, findText, wordOf } from "./log_matches.js";

const PAGE = 300;
const MOST = 1500;
const NEAR = 600;
const LONGEST = 20000;
const POLL_MS = 1000;
const PATTERN_PAGE = 3000; // lines in which a regular expression is looked for at once

const section = document.getElementById("logs");
const box = document.getElementById("log");
const status = document.getElementById("log-status");
const position = document.getElementById("log-position");
const severity = document.getElementById("log-severity");
const search = document.getElementById("log-text");
const only = document.getElementById("log-only");
const regex = document.getElementById("log-regex");
const end = document.getElementById("log-end");
const several = Number(section.dataset.replicas) > 1;
const clock = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3, hourCycle: "h23",
});
const whole = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });

const chosen = { replica: "", attempt: "" };
let following = false;
let first = 0; // the cursor before the window
let last = 0; // the cursor after it
let moreBefore = false;
let moreAfter = true;
let size = 0;
let generation = 0; // grows when the window is another one: answers of before are dropped
let busy = false;
let complaint = ""; // of the expression that lines can't be marked with
let current = null; // the cursor of the line that was jumped to
const colours = new Map();

const sought = () => search.value.trim();

function filters() {
  const found = {};
  for (const [name, value] of Object.entries(chosen)) if (value) found[name] = value;
  if (severity.value) found.severity = severity.value;
  if (only.checked) Object.assign(found, matching());
  return found;
}

// The server looks for a text; for a regular expression the page does, in the lines that have a word of it.
function matching() {
  const text = sought();
  if (!text) return {};
  if (!regex.checked) return { contains: text.toLowerCase() };
  const word = wordOf(text);
  return word ? { pattern: text, contains: word } : { pattern: text };
}

// Lines have the ranges that are marked in them. With a pattern there are only those that match it, `limit` at most.
async function ask({ pattern, ...query }) {
  const asked = pattern ? { ...query, limit: PATTERN_PAGE } : query;
  const page = await askFor(`${section.dataset.base}/lines?${new URLSearchParams(asked)}`);
  size = page.size;
  const lines = page.lines.map((line) => ({ ...line, shown: shownOf(line.message) }));
  complaint = "";
  if (regex.checked && sought()) {
    try {
      const found = await findMatches(sought(), lines.map((line) => line.shown));
      lines.forEach((line, at) => (line.ranges = found[at]));
    } catch (error) {
      if (pattern) throw error;
      complaint = error.message; // only what is marked is missing
    }
  } else {
    for (const line of lines) line.ranges = findText(sought().toLowerCase(), line.shown);
  }
  page.lines = pattern ? choose(page, lines, query) : lines;
  return page;
}

// The matches, and where to go on: where there are too many, behind the last that is taken.
function choose(page, lines, { limit, back }) {
  const places = [...lines.keys()].filter((at) => lines[at].ranges);
  if (places.length > limit) {
    const taken = back ? places.slice(-limit) : places.slice(0, limit);
    page.more = true;
    page.cursor = back ? (lines[taken[0] - 1]?.cursor ?? page.cursor) : lines[taken.at(-1)].cursor;
    return taken.map((at) => lines[at]);
  }
  return places.map((at) => lines[at]);
}

// What is read of a message: of texts that a carriage return began anew the last one.
function shownOf(message) {
  const text = message.slice(0, LONGEST);
  if (!text.includes("\r")) return text;
  return text.split("\n").map((part) => part.split("\r").filter(Boolean).at(-1) ?? "").join("\n");
}

function colourOf(name) {
  if (!colours.has(name)) colours.set(name, colours.size % 8);
  return colours.get(name);
}
for (const [at, each] of [...section.querySelectorAll("[data-replica]:not([data-replica=''])")].entries()) {
  colours.set(each.dataset.replica, at % 8);
}

function draw(line) {
  const row = document.createElement("div");
  row.className = `line ${line.severity.toLowerCase()}`;
  row.dataset.cursor = line.cursor;
  if (line.cursor === current) row.classList.add("current");
  const link = document.createElement("a");
  const time = new Date(line.time);
  link.href = `#line-${line.cursor}`;
  link.textContent = clock.format(time);
  link.title = `${whole.format(time)}, ${line.severity.toLowerCase()}, attempt ${line.attempt}`;
  row.append(link);
  if (several || line.trial) {
    const who = document.createElement("span");
    who.className = `who r${colourOf(line.replica)}`;
    who.textContent = line.trial ? `${line.trial}/${line.replica}` : line.replica;
    row.append(who);
  }
  if (/ERROR|CRITICAL|ALERT|EMERGENCY|WARNING/.test(line.severity)) {
    const word = document.createElement("span");
    word.className = "sr";
    word.textContent = ` ${line.severity.toLowerCase()} `;
    row.append(word);
  }
  const message = document.createElement("span");
  message.className = "message";
  appendAnsi(message, line.shown, line.ranges ?? []);
  if (line.message.length > LONGEST) message.append(` … ${line.message.length - LONGEST} more characters`);
  row.append(message);
  return row;
}

function drawAll(lines) {
  const part = document.createDocumentFragment();
  for (const line of lines) part.append(draw(line));
  return part;
}

function trimStart() {
  const excess = box.childElementCount - MOST;
  if (excess <= 0) return;
  const height = box.scrollHeight;
  const range = document.createRange();
  first = Number(box.children[excess - 1].dataset.cursor);
  range.setStartBefore(box.firstChild);
  range.setEndAfter(box.children[excess - 1]);
  range.deleteContents();
  box.scrollTop -= height - box.scrollHeight;
  moreBefore = true;
}

function trimEnd() {
  while (box.childElementCount > MOST) box.lastElementChild.remove();
  if (box.lastElementChild) {
    const cursor = Number(box.lastElementChild.dataset.cursor);
    if (cursor < last) moreAfter = true;
    last = cursor;
  }
}

async function exclusively(work) {
  if (busy) return;
  busy = true;
  const mine = generation;
  try {
    await work(() => mine === generation);
    showProblem("");
  } catch (error) {
    if (mine === generation) {
      showProblem(error instanceof TypeError ? "The server doesn't answer. The log continues when the server answers." : error.message);
    }
  } finally {
    busy = false;
  }
}

const forward = () => exclusively(async (valid) => {
  const page = await ask({ ...filters(), cursor: last, limit: PAGE });
  if (!valid()) return;
  box.append(drawAll(page.lines));
  last = page.cursor;
  moreAfter = page.more;
  trimStart();
});

const backward = () => exclusively(async (valid) => {
  const page = await ask({ ...filters(), cursor: first, back: "true", limit: PAGE });
  if (!valid()) return;
  const before = box.scrollHeight - box.scrollTop;
  box.prepend(drawAll(page.lines));
  box.scrollTop = box.scrollHeight - before;
  first = page.cursor;
  moreBefore = page.more;
  trimEnd();
});

// Fill what is near the visible part, one page after the other.
async function fill() {
  if (busy) return;
  for (;;) {
    const mine = generation;
    const below = box.scrollHeight - box.scrollTop - box.clientHeight;
    const before = [first, last].join();
    if (moreAfter && (below < NEAR || following)) await forward();
    else if (moreBefore && box.scrollTop < NEAR) await backward();
    else break;
    if (following) toBottom();
    if (mine !== generation || before === [first, last].join()) break;
    say();
  }
  say();
}

function toBottom() {
  box.scrollTop = box.scrollHeight;
}

function say() {
  const top = topLine();
  if (size && document.activeElement !== position) {
    position.value = Math.round((1000 * (following ? size : Number(top?.dataset.cursor ?? last))) / size);
  }
  const loading = (moreAfter && last < size) || (moreBefore && first > 0);
  if (box.childElementCount) {
    const place = current === null ? "" : matches.say(current);
    status.textContent = complaint || place || (following ? "New lines appear here as the job prints them." : "");
  } else if (size === 0) {
    status.textContent = ended() ? "The job has printed nothing." : "The job has printed nothing yet.";
  } else {
    status.textContent = loading ? `Looking for lines: ${Math.round((100 * last) / size)} %` : "No line matches.";
  }
}

function topLine() {
  const edge = box.getBoundingClientRect().top;
  let low = 0;
  let high = box.childElementCount - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (box.children[middle].getBoundingClientRect().bottom > edge) high = middle;
    else low = middle + 1;
  }
  return box.children[low];
}

function reset() {
  generation += 1;
  box.replaceChildren();
}

function setFollowing(on) {
  following = on;
  end.setAttribute("aria-pressed", String(on));
}

async function goToEnd() {
  reset();
  setFollowing(true);
  await settle();
  await exclusively(async (valid) => {
    const page = await ask({ ...filters(), back: "true", limit: PAGE });
    if (!valid()) return;
    box.append(drawAll(page.lines));
    first = page.cursor;
    last = page.start;
    moreBefore = page.more;
    moreAfter = false;
  });
  toBottom();
  await fill();
}

async function goTo(query) {
  reset();
  setFollowing(false);
  await settle();
  await exclusively(async (valid) => {
    const page = await ask({ ...filters(), ...query, limit: PAGE });
    if (!valid()) return;
    box.append(drawAll(page.lines));
    first = page.start;
    last = page.cursor;
    moreBefore = page.start > 0;
    moreAfter = page.more;
    box.scrollTop = 0;
  });
  await fill();
}

// The line whose cursor this is, with what is around it.
async function show(cursor) {
  reset();
  setFollowing(false);
  current = cursor;
  await settle();
  await exclusively(async (valid) => {
    const before = await ask({ ...filters(), cursor, back: "true", limit: 100 });
    const after = await ask({ ...filters(), cursor, limit: PAGE });
    if (!valid()) return;
    box.append(drawAll(before.lines), drawAll(after.lines));
    first = before.cursor;
    moreBefore = before.more;
    last = after.cursor;
    moreAfter = after.more;
  });
  const line = box.querySelector(".current");
  if (line) box.scrollTop += line.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 2;
  history.replaceState(null, "", `#line-${cursor}`);
  await fill();
}

async function settle() {
  while (busy) await new Promise((done) => setTimeout(done, 20));
}

// The next line of these, looked for page by page.
async function find(query, back, what) {
  const mine = ++generation;
  await settle();
  const { wrapped, ...sought } = query;
  let cursor = query.cursor;
  for (;;) {
    const asked = { ...filters(), ...sought, cursor, limit: 1 };
    if (back) asked.back = "true";
    const page = await ask(asked);
    if (mine !== generation) return;
    const found = back ? page.lines.at(-1) : page.lines[0];
    if (found) {
      await show(found.cursor);
      if (what === "matches") matches.count({ ...filters(), ...matching() });
      else matches.forget();
      return;
    }
    if (!page.more) break;
    cursor = page.cursor;
    status.textContent = `Looking for ${what}: ${Math.round((100 * cursor) / page.size)} %`;
  }
  if (what === "matches" && !query.wrapped) {
    // Once around: what is looked for may stand on the other side.
    await find({ ...query, cursor: back ? size : 0, wrapped: true }, back, what);
    return;
  }
  if (!box.childElementCount) await goToEnd(); // it was being filled when the search began
  status.textContent = what === "matches" ? "No match." : `No more ${what}.`;
}

const matches = new MatchCount(ask, say);

const failing = (work) => (event) => {
  event?.preventDefault();
  work().catch((error) => showProblem(error.message));
};

function seek(back) {
  const wanted = matching();
  if (!wanted.contains && !wanted.pattern) return Promise.resolve();
  const shown = box.querySelector(".current");
  let cursor = Number(shown?.dataset.cursor ?? topLine()?.dataset.cursor ?? (back ? size : first));
  // A search for lines before a cursor has the line of this cursor, too.
  if (back && shown) cursor = Number(shown.previousElementSibling?.dataset.cursor ?? first);
  if (!back && !shown) cursor = first;
  return find({ cursor, ...wanted }, back, "matches");
}

box.addEventListener("scroll", () => {
  const below = box.scrollHeight - box.scrollTop - box.clientHeight;
  if (following && below > 40) setFollowing(false);
  fill();
}, { passive: true });

let dragging = 0;
position.addEventListener("input", () => {
  clearTimeout(dragging);
  dragging = setTimeout(() => {
    const at = Math.floor((size * position.value) / 1000);
    if (Number(position.value) >= 1000) goToEnd();
    else goTo({ at: String(at) });
  }, 60);
});
position.addEventListener("change", () => position.blur());

document.getElementById("log-search").addEventListener("submit", failing(() => seek(false)));
document.getElementById("log-previous").addEventListener("click", failing(() => seek(true)));
document.getElementById("log-error").addEventListener("click", failing(() => find({ cursor: 0, severity: "ERROR" }, false, "errors")));
document.getElementById("log-start").addEventListener("click", failing(() => goTo({ cursor: "0" })));
end.addEventListener("click", failing(() => goToEnd()));
severity.addEventListener("change", failing(() => goToEnd()));
only.addEventListener("change", failing(() => goToEnd()));
regex.addEventListener("change", failing(() => (only.checked ? goToEnd() : Promise.resolve())));
function press(name) {
  for (const each of section.querySelectorAll(`button[data-${name}]`)) {
    each.setAttribute("aria-pressed", String(each.dataset[name] === chosen[name]));
  }
}
for (const name of Object.keys(chosen)) {
  const choose = (value) => {
    chosen[name] = value;
    press(name);
    return goToEnd();
  };
  section.addEventListener("change", (event) => {
    if (event.target.id === `log-${name}`) failing(() => choose(event.target.value))(event);
  });
  section.addEventListener("click", (event) => {
    const chip = event.target.closest(`button[data-${name}]`);
    if (chip) failing(() => choose(chip.dataset[name]))(event);
  });
}
// The job has started again: there is one more attempt to choose.
document.body.addEventListener("htmx:afterSettle", () => {
  press("attempt");
  const select = document.getElementById("log-attempt");
  if (select) select.value = chosen.attempt;
});

function openHash() {
  const found = location.hash.match(/^#line-(\d{1,18})$/);
  if (found && Number(found[1]) !== current) matches.forget();
  if (found && Number(found[1]) !== current) show(Number(found[1])).catch((error) => showProblem(error.message));
  return found !== null;
}
window.addEventListener("hashchange", openHash);

let idle = 0;
setInterval(() => {
  if (document.hidden || !following) return;
  if (ended() && idle++ > 3) return;
  moreAfter = true;
  fill();
}, POLL_MS);

// Before this they would do nothing.
for (const each of section.querySelectorAll("button:disabled")) each.disabled = false;
if (!openHash()) goToEnd();
