"""Prints one trial in full."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from footplate.cli.jobs.kinds import PENDING
from footplate.cli.terminal_text import pad, width_of
from footplate.cli.trials.fields import metric_value, seconds
from footplate.cli.trials.table import duration, figure, result, sparkline

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from footplate.client.records import Job
    from footplate.wire.footplate_v1.trials import Measurement, Prediction, Trial, TrialList

CURVE_WIDTH = 40
"""Points of the chart of a curve."""


def describe_trial(
    view: TrialList,
    trial: Trial,
    curve: Sequence[Measurement],
    run: Job | None,
    logs: str,
    now: datetime,
) -> list[tuple[str, str]]:
    """Returns labels with texts, whose lines belong together.

    ``run`` is the job that runs the trial; ``logs`` is the command that shows its output.
    """
    error, waits = _run(run)
    best = trial.number in view.best
    lines = [
        ("trial", f"{trial.number} of job {view.job.job_id}"),
        ("state", f"{view.shown_state(trial)}{', the best so far' if best else ''}"),
        ("waits", waits.removeprefix("Waits ")),
        ("parameters", "\n".join(_parameters(view, trial))),
        ("result", result(trial) if trial.measured else ""),
        ("curve", "\n".join(_curves(view, curve))),
        ("time", _time(trial, now)),
        ("suggested", trial.suggestion.sentence if trial.suggestion else ""),
        ("prediction", "\n".join(_predictions(view, trial))),
        ("stopped early", trial.stop_reason),
        ("no result", trial.infeasible_reason),
        ("tags seen", ", ".join(trial.tags_seen)),
        ("its run failed", error if error != trial.infeasible_reason else ""),
        ("best", view.tie if best else ""),
        ("logs", logs),
    ]
    return [(label, text) for label, text in lines if text]


def _run(run: Job | None) -> tuple[str, str]:
    """Returns why the run failed, and why it waits; '' for neither."""
    return (run.error_message, str(run.resource.get(PENDING) or "")) if run else ("", "")


def _parameters(view: TrialList, trial: Trial) -> Iterator[str]:
    there = [name for name in view.parameters if name in trial.parameters]
    width = max(map(width_of, there), default=0)
    for name in there:
        value = trial.parameters[name]
        text = figure(value if not isinstance(value, list | dict) else None)
        yield f"{pad(name, width)}  {text}"


def _curves(view: TrialList, curve: Sequence[Measurement]) -> Iterator[str]:
    """Yields a line per metric: its finite values, ordered by step."""
    ordered = sorted(curve, key=lambda m: (m.step, m.elapsed_seconds))
    for name in view.goals:
        points = [m for m in ordered if math.isfinite(m.values.get(name, math.nan))]
        if not points:
            continue
        values = [m.values[name] for m in points]
        first, last = points[0], points[-1]
        chart = sparkline(values, CURVE_WIDTH)
        ends = (
            f"{figure(values[0])} at step {first.step} to {figure(values[-1])} at step {last.step}"
        )
        count = "1 measurement" if len(points) == 1 else f"{len(points)} measurements"
        yield f"{chart}  {name}: {ends}, {count}"


def _time(trial: Trial, now: datetime) -> str:
    ran = duration(seconds(trial, now))
    if not ran:
        return ""
    cost = f", {duration(trial.machine_seconds)} of machine time" if trial.machine_seconds else ""
    return f"{ran}{cost}, from {trial.start_time}"


def _predictions(view: TrialList, trial: Trial) -> Iterable[str]:
    """Yields a line per metric with the predicted range and the result."""
    if trial.suggestion is None:
        return
    for expected in trial.suggestion.predictions:
        span = f"{figure(expected.low)} to {figure(expected.high)}"
        text = f"{expected.metric}: {figure(expected.value)} ({span})"
        value = metric_value(trial, expected.metric) if trial.ended else None
        if value is None:
            yield text
        else:
            goal = view.goals.get(expected.metric, "")
            yield f"{text}, came out at {figure(value)}: {_judged(expected, value, goal)}"


def _judged(expected: Prediction, value: float, goal: str) -> str:
    if expected.low <= value <= expected.high:
        return "as expected"
    better = value > expected.high if goal == "MAXIMIZE" else value < expected.low
    return "better than expected" if better else "worse than expected"
