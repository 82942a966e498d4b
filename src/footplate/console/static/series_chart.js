// Charts of series with uPlot: lines over time or steps, and where the job started again.

import { colour } from "./drawing.js";

export const HEIGHT = 150;
const SINGLE_S = 30; // what is shown before and after a single moment
const TIME_RIGHT = 34; // half of a time, which stands below the end of the axis
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

// Parts of a second have the same text: it stands once.
function timesOf(values) {
  const texts = values.map((value) => clock.format(value * 1000));
  return texts.map((text, at) => (text === texts[at - 1] ? "" : text));
}

// uPlot would show a day after a single moment.
function timeRange({ data: [moments] }, low, high) {
  return moments.length === 1 ? [moments[0] - SINGLE_S, moments[0] + SINGLE_S] : [low, high];
}

function aligned(lines) {
  const tables = lines.map((line) => [line.points.map((point) => point[0]), line.points.map((point) => point[1])]);
  return tables.length > 1 ? uPlot.join(tables) : tables[0];
}

function mark(chart, markers) {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.strokeStyle = colour("--bad");
  ctx.setLineDash([4, 4]);
  for (const at of markers) {
    const x = chart.valToPos(at, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

// `lines`: [{label, points: [[x, y]]}] in the order of x. `idleTop`: the axis of values begins at 0, and ends
// there if all are 0. `steps`: what may be between its labels. `markers` returns places on the axis of x, which are
// seconds if it is one of `time`.
export function makeChart(place, lines, { format, markers, time = true, idleTop = 0, steps }) {
  const axis = { stroke: colour("--faint"), grid: { stroke: colour("--chart"), width: 1 }, ticks: { show: false }, font: "11px system-ui" };
  return new uPlot({
    width: place.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false },
    ...(time && { padding: [null, TIME_RIGHT, null, null] }),
    scales: {
      x: { time, ...(time && { range: timeRange }) },
      ...(idleTop && { y: { range: (_, low, high) => [0, high > 0 ? high * 1.1 : idleTop] } }),
    },
    axes: [
      { ...axis, space: 80, ...(time && { values: (_, values) => timesOf(values) }) },
      { ...axis, size: 64, ...(steps && { incrs: steps }), values: (_, values) => values.map(format) },
    ],
    series: [{}, ...lines.map((line, at) => ({ label: line.label, stroke: colour(`--r${at % 8}`), width: 1.5, spanGaps: !idleTop, points: { show: line.points.length < 2 } }))],
    hooks: { draw: [(chart) => mark(chart, markers())] },
  }, aligned(lines), place);
}

// Which line is which, where there are several.
export function fillLegend(place, lines) {
  const names = lines.length > 1 ? lines.map((line) => line.label) : [];
  place.replaceChildren(...names.map((name, at) => {
    const entry = document.createElement("span");
    const dot = document.createElement("i");
    dot.className = `dot r${at % 8}`;
    entry.append(dot, name);
    return entry;
  }));
}

export const setData = (plot, lines) => plot.setData(aligned(lines));
