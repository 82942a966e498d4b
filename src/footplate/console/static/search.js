// Charts of trials: the objective with the best so far, and parallel coordinates.

import { colour, whenThemeChanges } from "./drawing.js";

const box = document.getElementById("search-charts");
const charts = new Map();
const ticked = new Set();

function draw(id, option) {
  if (!charts.has(id)) charts.set(id, echarts.init(document.getElementById(id)));
  charts.get(id).setOption({ animation: false, textStyle: { color: colour("--ink") }, ...option }, true);
  return charts.get(id);
}

const measured = (trial) => trial.final ?? trial.latest;
const number = (value) => (typeof value === "number" ? value : null);

function drawAll() {
  const { trials, metrics, parameters } = JSON.parse(document.getElementById("trials").dataset.search);
  box.hidden = trials.length === 0;
  if (box.hidden) return;
  const { name, goal } = metrics[0];
  const better = goal === "MAXIMIZE" ? Math.max : Math.min;
  const objective = (trial) => number(measured(trial)?.values[name]);
  const axis = { axisLabel: { color: colour("--faint") }, axisLine: { lineStyle: { color: colour("--faint") } }, splitLine: { lineStyle: { color: colour("--chart") } } };

  const points = trials.map((trial) => [trial.number, objective(trial), trial.stoppedEarly]).filter((point) => point[1] !== null).sort((a, b) => a[0] - b[0]);
  let best = null;
  const line = points.filter((point) => !point[2]).map(([at, value]) => [at, (best = best === null ? value : better(best, value))]);
  draw("history", {
    grid: { left: 8, right: 12, top: 12, bottom: 8, containLabel: true },
    xAxis: { type: "value", min: 1, max: Math.max(2, ...points.map((point) => point[0])), minInterval: 1, ...axis, splitLine: { show: false } },
    yAxis: { type: "value", scale: true, ...axis },
    series: [
      { type: "scatter", symbolSize: 7, data: points.map(([at, value, early]) => ({ value: [at, value], itemStyle: { color: colour(early ? "--faint" : "--accent") } })) },
      { type: "line", step: "end", symbol: "none", lineStyle: { color: colour("--good") }, data: line },
    ],
  });

  const names = [...parameters, name];
  const rows = trials.map((trial) => [...parameters.map((each) => trial.parameters[each] ?? null), objective(trial)]);
  const parallel = draw("parallel", {
    parallel: { left: 60, right: 60, top: 32, bottom: 20 },
    parallelAxis: names.map((title, dim) => {
      const texts = [...new Set(rows.map((row) => row[dim]).filter((value) => typeof value === "string"))];
      const short = title.length > 18 ? `${title.slice(0, 17)}…` : title;
      const kind = texts.length ? { type: "category", data: [...new Set(rows.map((row) => String(row[dim] ?? "")))] } : { type: "value", scale: true };
      return { dim, name: short, nameTextStyle: { color: colour("--ink") }, ...axis, axisLabel: { ...axis.axisLabel, width: 70, overflow: "truncate" }, ...kind };
    }),
    series: [{ type: "parallel", lineStyle: { width: 1.5, opacity: 0.6, color: colour("--accent") }, data: rows.map((row) => row.map((value) => value ?? "-")) }],
  });
  parallel.off("axisareaselected");
  parallel.on("axisareaselected", () => {
    const series = parallel.getModel().getSeries()[0];
    const inside = new Set(series.getRawIndicesByActiveState("active"));
    const outside = series.getRawIndicesByActiveState("inactive");
    const table = document.querySelectorAll("#trial-rows tbody tr");
    table.forEach((row, at) => (row.hidden = outside.length > 0 && !inside.has(at)));
  });
}

document.addEventListener("change", (event) => {
  if (!event.target.matches("#trial-rows input")) return;
  if (event.target.checked) ticked.add(event.target.value);
  else ticked.delete(event.target.value);
});
document.body.addEventListener("htmx:afterSettle", () => {
  for (const each of document.querySelectorAll("#trial-rows input")) each.checked ||= ticked.has(each.value);
  drawAll();
});
window.addEventListener("resize", () => charts.forEach((chart) => chart.resize()));
whenThemeChanges(drawAll);
drawAll();
