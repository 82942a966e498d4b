// What a search finds in lines: a text by itself, a regular expression in a worker, which is ended when it takes too
// long. So neither a hostile expression nor a hostile line stops the page.

import { plainText } from "./ansi.js";

const TIMEOUT_MS = 4000;
const TOO_LONG = "This expression takes too long. Use an expression without repetitions inside repetitions.";
const pending = new Map(); // what the worker was asked: by number
let worker = null;
let number = 0;
let refused = null; // the expression that took too long: it isn't tried again

// Of each text the ranges [start, end] of its plain text that match, or null. Rejects where the expression is wrong or
// takes too long.
export function findMatches(pattern, texts) {
  return new Promise((resolve, reject) => send({ pattern, texts: texts.map(plainText), resolve, reject, timer: 0 }));
}

function send(task) {
  if (task.pattern === refused) {
    task.reject(new Error(TOO_LONG));
    return;
  }
  if (worker === null) {
    worker = new Worker(new URL("./match_worker.js", import.meta.url));
    worker.addEventListener("message", hear);
  }
  pending.set(++number, task);
  worker.postMessage({ id: number, pattern: task.pattern, texts: task.texts });
}

function hear({ data }) {
  const task = pending.get(data.id);
  if (!task) return;
  if (data.begun) {
    task.timer = setTimeout(() => stop(task.pattern), TIMEOUT_MS); // on a busy machine it may begin late
    return;
  }
  clearTimeout(task.timer);
  pending.delete(data.id);
  if (data.error) task.reject(new Error(data.error));
  else task.resolve(data.found);
}

// End the worker; what else it was asked another one is asked.
function stop(pattern) {
  worker.removeEventListener("message", hear);
  worker.terminate();
  worker = null;
  refused = pattern;
  const tasks = [...pending.values()];
  pending.clear();
  for (const task of tasks) send(task);
}

// The ranges of a text's plain text that equal `wanted`, which is in lower case.
export function findText(wanted, text) {
  const found = [];
  if (!wanted) return found;
  const folded = plainText(text).toLowerCase();
  for (let at = folded.indexOf(wanted); at >= 0; at = folded.indexOf(wanted, at + wanted.length)) {
    found.push([at, at + wanted.length]);
  }
  return found;
}

// A word that all matches of an expression hold for sure, in lower case; empty: none is known. The server finds lines
// by it before the worker sees them. One word: colours, which only the server sees, stand between words.
export function wordOf(pattern) {
  const runs = [""];
  for (const [token, escaped] of pattern.matchAll(/\\([\s\S])|[\s\S]/g)) {
    if (escaped === undefined && /[|()[\]{}\\]/.test(token)) return "";
    if (escaped !== undefined && !/[dDwWsSbB.^$*+?()[\]{}|\\/-]/.test(escaped)) return "";
    if (/^[?*]$/.test(token)) runs.push(runs.pop().slice(0, -1), "");
    else if (/^\w$/.test(token)) runs.push(runs.pop() + token);
    else runs.push("");
  }
  return runs.reduce((one, other) => (other.length > one.length ? other : one)).toLowerCase();
}
