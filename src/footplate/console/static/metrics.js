// Charts of the metrics that the programs reported, one for each metric, and a table behind each.

import { addFigure, ask, fillTable, jobHasEnded, plain, restarts, whenThemeChanges } from "./drawing.js";
import { HEIGHT, fillLegend, makeChart } from "./series_chart.js";

const EVERY_MS = 10000;
const SOON_MS = 500; // there is more to read
const MOST_LINES = 16;
const section = document.getElementById("metrics");
const target = document.getElementById("metric-charts");
const axis = document.getElementById("metric-axis");
const note = document.getElementById("metric-note");
const drawn = new Map();

// One point for each place of the axis, the last one that came for it, in order.
function pointsOf(series, byTime) {
  const found = new Map();
  for (const [at, value] of series.values.entries()) {
    const x = byTime ? new Date(series.times[at]) / 1000 : series.steps[at];
    found.set(x, Number.isFinite(Number(value)) ? Number(value) : null);
  }
  return [...found].sort((one, other) => one[0] - other[0]);
}

// A restart is at the last step that was reported before it.
function markersOf(lines, byTime) {
  if (byTime) return restarts();
  return restarts().flatMap((time) => {
    const steps = lines.flatMap(({ series }) => series.steps.filter((_, at) => new Date(series.times[at]) / 1000 <= time));
    return steps.length ? [Math.max(...steps)] : [];
  });
}

const shown = (value) => (Number.isFinite(value) ? plain(value) : String(value));

function rowOf({ label, series }) {
  const values = series.values.map(Number);
  const numbers = values.filter(Number.isFinite);
  const known = (value) => (numbers.length ? plain(value) : "–");
  return [label, series.steps.at(-1), shown(values.at(-1)), known(Math.min(...numbers)), known(Math.max(...numbers))];
}

function draw(chart) {
  const byTime = axis.value === "time";
  for (const line of chart.lines) line.points = pointsOf(line.series, byTime);
  chart.plot?.destroy();
  chart.plot = makeChart(chart.place, chart.lines, { format: plain, time: byTime, markers: () => markersOf(chart.lines, byTime) });
}

function put(metric, found) {
  let chart = drawn.get(metric);
  if (!chart) {
    chart = { plot: null };
    Object.assign(chart, addFigure(target, metric, (width) => chart.plot?.setSize({ width, height: HEIGHT })));
    drawn.set(metric, chart);
  }
  const last = JSON.stringify(found);
  if (chart.last === last) return;
  chart.last = last;
  chart.lines = found.slice(0, MOST_LINES).map((series) => ({ label: series.source === "." ? metric : series.source, series }));
  draw(chart);
  fillLegend(chart.legend, chart.lines);
  fillTable(chart.table, ["Source", "Last step", "Last", "Least", "Most"], chart.lines.map(rowOf));
}

// Whether there is more to read.
async function load() {
  const { series, more, omitted } = await ask(section.dataset.url);
  const found = grouped(series);
  for (const [metric, lines] of found) put(metric, lines);
  const parts = [];
  if (more) parts.push("Reading the event files …");
  if (omitted) parts.push("The job has more metrics than the page shows.");
  if (restarts().length && series.length) parts.push("Dashed lines mark restarts of replicas.");
  note.textContent = parts.join(" ");
  document.getElementById("metric-empty").hidden = series.length > 0 || more;
  axis.closest("label").hidden = series.length === 0;
  return more;
}

function grouped(series) {
  const found = new Map();
  for (const each of series) found.set(each.metric, [...(found.get(each.metric) ?? []), each]);
  return found;
}

let final = false;
async function turn() {
  let wait = EVERY_MS;
  if (!document.hidden && !final) {
    final = jobHasEnded();
    try {
      if (await load()) {
        wait = SOON_MS;
        final = false;
      }
    } catch (error) {
      final = false; // That the server is away the page says.
      if (!(error instanceof TypeError)) note.textContent = error.message;
    }
  }
  setTimeout(turn, wait);
}
const redraw = () => drawn.forEach(draw);
axis.addEventListener("change", redraw);
whenThemeChanges(redraw);
turn();
