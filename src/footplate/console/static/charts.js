// Charts of what the replicas use, and a table behind each.

import { addFigure, ask, fillTable, jobHasEnded, restarts, whenThemeChanges } from "./drawing.js";
import { HEIGHT, makeChart, setData } from "./series_chart.js";

const section = document.getElementById("usage");
const target = document.getElementById("charts");
const EVERY_MS = 10000;
const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

function bytes(value) {
  let at = 0;
  while (value >= 1024 && at < UNITS.length - 1) {
    value /= 1024;
    at += 1;
  }
  return `${value >= 100 || Number.isInteger(value) ? Math.round(value) : value.toPrecision(3)} ${UNITS[at]}`;
}

const BYTE_STEPS = Array.from({ length: 50 }, (_, power) => 2 ** power);
const plain = (value) => (Number.isInteger(value) ? String(value) : value.toPrecision(3));
const KINDS = [
  { key: "cpu", title: "CPU (vCPUs)", format: plain },
  { key: "memoryBytes", title: "Memory", format: bytes },
  { key: "gpuPercent", title: "GPU (%)", format: plain, gpu: "percent" },
  { key: "gpuMemory", title: "GPU memory", format: bytes, gpu: "memoryBytes" },
  { key: "readBytesPerSecond", title: "Read per second", format: bytes },
  { key: "writtenBytesPerSecond", title: "Written per second", format: bytes },
];
const drawn = new Map();

// [{label, points: [[time, mean]], now, mean, peak}] of one kind
function series(replicas, kind) {
  const found = [];
  for (const replica of replicas) {
    const pick = kind.gpu
      ? Object.keys(replica.overall.gpus ?? {}).map((gpu) => [`${replica.replica} GPU ${gpu}`, (point) => point?.gpus?.[gpu]?.[kind.gpu]])
      : [[replica.replica, (point) => point?.[kind.key]]];
    for (const [label, of] of pick) {
      const overall = of(replica.overall);
      if (!overall) continue;
      const points = replica.points.filter((point) => of(point)).map((point) => [new Date(point.time) / 1000, of(point).mean]);
      found.push({ label, points, now: of(replica.now)?.mean, mean: overall.mean, peak: overall.peak });
    }
  }
  return found;
}

const draw = (place, kind, lines) => makeChart(place, lines, { format: kind.format, markers: restarts, ...(kind.format === bytes ? { idleTop: 1024, steps: BYTE_STEPS } : { idleTop: 1 }) });

function put(kind, lines) {
  let chart = drawn.get(kind.key);
  if (!chart) {
    chart = { plot: null, count: 0 };
    Object.assign(chart, addFigure(target, kind.title, (width) => chart.plot?.setSize({ width, height: HEIGHT })));
    drawn.set(kind.key, chart);
  }
  if (chart.plot && chart.count === lines.length) setData(chart.plot, lines);
  else {
    chart.plot?.destroy();
    chart.plot = draw(chart.place, kind, lines);
    chart.count = lines.length;
  }
  chart.kind = kind;
  chart.lines = lines;
  const shown = (value) => (value === undefined ? "–" : kind.format(value));
  fillTable(chart.table, ["Replica", "Now", "Mean", "Peak"], lines.map((line) => [line.label, shown(line.now), shown(line.mean), shown(line.peak)]));
}

async function load() {
  const { replicas } = await ask(section.dataset.url);
  if (!replicas.length) return;
  target.querySelector(":scope > p")?.remove();
  for (const kind of KINDS) {
    const lines = series(replicas, kind);
    if (lines.some((line) => line.points.length)) put(kind, lines.slice(0, 32));
  }
}

function redraw() {
  for (const chart of drawn.values()) {
    chart.plot.destroy();
    chart.plot = draw(chart.place, chart.kind, chart.lines);
  }
}

let final = false;
async function turn() {
  if (!document.hidden && !final) {
    final = jobHasEnded();
    try {
      await load();
    } catch (error) {
      final = false; // That the server is away the page says.
      const empty = target.querySelector(":scope > p");
      if (empty && !(error instanceof TypeError)) empty.textContent = error.message;
    }
  }
  setTimeout(turn, EVERY_MS);
}
whenThemeChanges(redraw);
turn();
