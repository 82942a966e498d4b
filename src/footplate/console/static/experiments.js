// Curves of an experiment's runs: one chart for each tag, and a table behind it.

import { addFigure, ask, colour, fillTable, plain, whenThemeChanges } from "./drawing.js";

const target = document.getElementById("curves");
const HEIGHT = 200;
const drawn = [];

const values = (run) => run.points.map((point) => Number(point[1]));
const rowOf = (run) => {
  const [step, last] = run.points[run.points.length - 1];
  return [run.run, step, ...[Number(last), Math.min(...values(run)), Math.max(...values(run))].map(plain)];
};

function draw(chart) {
  const { place, tag } = chart;
  const axis = { stroke: colour("--faint"), grid: { stroke: colour("--chart"), width: 1 }, ticks: { show: false }, font: "11px system-ui" };
  const tables = tag.runs.map((run) => [run.points.map((point) => point[0]), values(run)]);
  chart.plot?.destroy();
  chart.plot = new uPlot({
    width: place.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false },
    scales: { x: { time: false } },
    axes: [axis, { ...axis, size: 64, values: (_, ticks) => ticks.map(plain) }],
    series: [{}, ...tag.runs.map((run) => ({ label: run.run, stroke: colour(`--r${run.number % 8}`), width: 1.5, spanGaps: true, points: { show: run.points.length < 2 } }))],
  }, tables.length > 1 ? uPlot.join(tables) : tables[0], place);
}

function put(tag) {
  const chart = { tag, plot: null };
  const { place, table } = addFigure(target, tag.tag, (width) => chart.plot?.setSize({ width, height: HEIGHT }));
  chart.place = place;
  fillTable(table, ["Run", "Last step", "Last", "Least", "Most"], tag.runs.map(rowOf));
  drawn.push(chart);
  draw(chart);
}

const said = target.firstElementChild;
try {
  const { tags } = await ask(target.dataset.url);
  said.textContent = "These runs have no time series.";
  said.hidden = tags.length > 0;
  tags.forEach(put);
} catch (error) {
  said.textContent = error.message || "The server doesn't answer.";
}
whenThemeChanges(() => drawn.forEach(draw));
