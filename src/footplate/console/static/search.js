// Charts of trials: the objective with the best so far, parallel coordinates, learning curves.

import { ask, colour, fillTable, plain, whenThemeChanges } from "./drawing.js";

const box = document.getElementById("search-charts");
const curveCard = document.getElementById("curves-card");
const metricSelect = document.getElementById("curve-metric");
const allRows = document.getElementById("all-rows");
const charts = new Map();
const ticked = new Set();
const chosen = new Map(); // intervals of the parallel axes, by the axis' name
let curves = [];

function draw(id, option) {
  if (!charts.has(id)) charts.set(id, echarts.init(document.getElementById(id)));
  charts.get(id).setOption({ animation: false, textStyle: { color: colour("--ink") }, ...option }, true);
  return charts.get(id);
}

const search = () => JSON.parse(document.getElementById("trials").dataset.search);
const measured = (trial) => trial.final ?? trial.latest;
const number = (value) => (typeof value === "number" ? value : null);
const lines = () => ({ axisLabel: { color: colour("--faint") }, axisLine: { lineStyle: { color: colour("--faint") } }, splitLine: { lineStyle: { color: colour("--chart") } } });
const tooltip = () => ({ backgroundColor: colour("--paper"), borderColor: colour("--line"), textStyle: { color: colour("--ink"), fontSize: 12 }, confine: true, renderMode: "richText" });
const GRID = { left: 8, right: 14, top: 14, bottom: 8, containLabel: true };

function drawHistory({ trials, metrics }) {
  const { name, goal } = metrics[0];
  const better = goal === "MAXIMIZE" ? Math.max : Math.min;
  const points = trials.map((trial) => [trial.number, number(measured(trial)?.values[name]), trial.stoppedEarly]).filter((point) => point[1] !== null).sort((a, b) => a[0] - b[0]);
  let best = null;
  const line = points.filter((point) => !point[2]).map(([at, value]) => [at, (best = best === null ? value : better(best, value))]);
  draw("history", {
    grid: GRID,
    tooltip: { ...tooltip(), formatter: ({ data }) => `trial ${data.value[0]}: ${plain(data.value[1])}` },
    xAxis: { type: "value", min: 1, max: Math.max(2, ...points.map((point) => point[0])), minInterval: 1, ...lines(), splitLine: { show: false } },
    yAxis: { type: "value", scale: true, ...lines() },
    series: [
      { type: "scatter", symbolSize: 7, data: points.map(([at, value, early]) => ({ value: [at, value], itemStyle: { color: colour(early ? "--faint" : "--accent") } })) },
      { type: "line", step: "end", symbol: "none", silent: true, tooltip: { show: false }, lineStyle: { color: colour("--good") }, data: line },
    ],
  });
}

// Learning rates and their like can be distinguished on a logarithmic axis only.
function spansDecades(values) {
  const known = values.filter((value) => value !== null);
  return known.every((value) => value > 0) && Math.max(...known) >= 100 * Math.min(...known);
}

function drawParallel({ trials, metrics, parameters }) {
  const names = [...parameters, metrics[0].name];
  const rows = trials.map((trial) => [...parameters.map((each) => trial.parameters[each] ?? null), number(measured(trial)?.values[metrics[0].name])]);
  const parallel = draw("parallel", {
    parallel: { left: 60, right: 60, top: 32, bottom: 20 },
    parallelAxis: names.map((title, dim) => {
      const texts = rows.some((row) => typeof row[dim] === "string");
      const short = title.length > 18 ? `${title.slice(0, 17)}…` : title;
      const kind = texts ? { type: "category", data: [...new Set(rows.map((row) => String(row[dim] ?? "")))] } : { type: spansDecades(rows.map((row) => row[dim])) ? "log" : "value", scale: true };
      return { dim, name: short, nameTextStyle: { color: colour("--ink") }, ...lines(), axisLabel: { ...lines().axisLabel, width: 70, overflow: "truncate" }, ...kind };
    }),
    series: [{ type: "parallel", lineStyle: { width: 1.5, opacity: 0.6, color: colour("--accent") }, data: rows.map((row) => row.map((value) => value ?? "-")) }],
  });
  parallel.off("axisareaselected");
  parallel.on("axisareaselected", () => {
    parallel.getOption().parallelAxis.forEach((axis, dim) => {
      const intervals = parallel.getModel().getComponent("parallelAxis", dim).activeIntervals;
      if (intervals.length) chosen.set(names[dim], intervals.map((each) => [...each]));
      else chosen.delete(names[dim]);
    });
    showChosen(parallel);
  });
  // What the reader has chosen stays when the chart is drawn anew.
  names.forEach((title, dim) => {
    if (chosen.has(title)) parallel.dispatchAction({ type: "axisAreaSelect", parallelAxisId: parallel.getModel().getComponent("parallelAxis", dim).id, intervals: chosen.get(title) });
  });
  showChosen(parallel);
}

function showChosen(parallel) {
  const series = parallel.getModel().getSeries()[0];
  const inside = new Set(series.getRawIndicesByActiveState("active"));
  const filtered = chosen.size > 0;
  allRows.hidden = !filtered;
  document.querySelectorAll("#trial-rows tbody tr").forEach((row, at) => (row.hidden = filtered && !inside.has(at)));
}

function drawCurves({ trials, metrics, best }) {
  const metric = metricSelect?.value ?? metrics[0].name;
  const goal = metrics.find((each) => each.name === metric)?.goal;
  const better = goal === "MAXIMIZE" ? Math.max : Math.min;
  const byNumber = new Map(trials.map((trial) => [trial.number, trial]));
  const shown = curves
    .filter((curve) => byNumber.has(curve.trial) && curve.values[metric])
    .map(({ trial, steps, values }) => ({ trial: byNumber.get(trial), points: steps.map((step, at) => [step, number(values[metric][at])]).filter((point) => point[1] !== null) }))
    .filter((curve) => curve.points.length);
  curveCard.hidden = shown.length === 0;
  if (curveCard.hidden) return;
  const look = (trial) => (trial.stoppedEarly ? ["--faint", 1, 1] : best.includes(trial.number) ? ["--good", 2.5, 3] : ["--accent", 1.2, 2]);
  const why = ({ stopReason }) => (stopReason ? `\n${stopReason.length > 160 ? `${stopReason.slice(0, 160)}…` : stopReason}` : "");
  draw("curves", {
    grid: GRID,
    tooltip: { ...tooltip(), formatter: ({ seriesIndex, data }) => `trial ${shown[seriesIndex].trial.number}, step ${data[0]}: ${plain(data[1])}${why(shown[seriesIndex].trial).replace(/(.{60}\S*) /g, "$1\n").replace(/[{}|]/g, " ")}` },
    xAxis: { type: "value", min: "dataMin", max: "dataMax", ...lines(), splitLine: { show: false } },
    yAxis: { type: "value", scale: true, ...lines() },
    series: shown.map(({ trial, points }) => {
      const [name, width, z] = look(trial);
      return { type: "line", z, data: points, symbol: "circle", symbolSize: 3.5, color: colour(name), lineStyle: { width, opacity: name === "--good" ? 1 : 0.65 }, emphasis: { focus: "series" } };
    }),
  });
  fillTable(document.getElementById("curve-rows"), ["Trial", "Points", "First", "Best", "Last", "Stopped early"], shown.map(({ trial, points }) => [
    trial.number, points.length, plain(points[0][1]), plain(points.map((point) => point[1]).reduce((one, other) => better(one, other))), `${plain(points.at(-1)[1])} at step ${points.at(-1)[0]}`, trial.stopReason ?? "",
  ]));
}

function drawAll() {
  const found = search();
  box.hidden = found.trials.length === 0;
  if (box.hidden) return;
  drawHistory(found);
  drawParallel(found);
  drawCurves(found);
}

let loading = false;
async function loadCurves() {
  if (loading) return;
  loading = true;
  try {
    ({ curves } = await ask(`${box.dataset.url}/curves`));
    if (!box.hidden) drawCurves(search());
  } catch {
    // That the server is away the page says; the next change asks again.
  }
  loading = false;
}

document.addEventListener("change", (event) => {
  if (!event.target.matches("#trial-rows input")) return;
  if (event.target.checked) ticked.add(event.target.value);
  else ticked.delete(event.target.value);
});
document.body.addEventListener("htmx:afterSettle", (event) => {
  if (event.target.id !== "trials") return;
  for (const each of document.querySelectorAll("#trial-rows input")) each.checked ||= ticked.has(each.value);
  drawAll();
  loadCurves();
});
allRows.addEventListener("click", () => {
  chosen.clear();
  charts.get("parallel").clear();
  drawParallel(search());
});
metricSelect?.addEventListener("change", () => drawCurves(search()));
new ResizeObserver(() => charts.forEach((chart) => chart.resize())).observe(box);
whenThemeChanges(drawAll);
drawAll();
loadCurves();
