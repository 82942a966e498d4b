"""Trials as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from footplate.cli.table import folded_rows, table, total_width
from footplate.cli.terminal_text import clip, disarm
from footplate.cli.trials.fields import (
    metric_value,
    parameter_value,
    seconds,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from footplate.cli.trials.fields import Value
    from footplate.wire.footplate_v1.trials import Measurement, Trial, TrialList

_BARS = "▁▂▃▄▅▆▇█"
_SHORT, _MINUTE, _HOUR, _DAY = 9.95, 60, 3600, 86_400


def figure(value: Value) -> str:
    """Returns a value as text, numbers with six digits; '' for None."""
    if value is None:
        return ""
    if isinstance(value, bool | str):
        return str(value)
    return str(value) if isinstance(value, int) else f"{value:.6g}"


def duration(seconds: float | None) -> str:
    """Returns a duration as text, in its two largest units; a short one with tenths of a second."""
    if seconds is None:
        return ""
    if seconds < _SHORT:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    if whole < _MINUTE:
        return f"{whole}s"
    if whole < _HOUR:
        return f"{whole // _MINUTE}m {whole % _MINUTE:02d}s"
    if whole < _DAY:
        return f"{whole // _HOUR}h {whole % _HOUR // _MINUTE:02d}m"
    return f"{whole // _DAY}d {whole % _DAY // _HOUR:02d}h"


def sparkline(values: list[float], width: int) -> str:
    """Draws bars from the least value to the greatest; thins out more values than ``width``."""
    if len(values) > width:
        values = [values[i * (len(values) - 1) // (width - 1)] for i in range(width)]
    low, high = min(values), max(values)
    if high == low:
        return _BARS[0] * len(values)
    last = len(_BARS) - 1
    return "".join(_BARS[round((value - low) / (high - low) * last)] for value in values)


BEST = "*"
_COLOURS = {
    "INFEASIBLE": "red",
    "STOPPING": "yellow",
    "ACTIVE": "cyan",
    "REQUESTED": "bright_black",
}
HEADING = "bold"
"""The style of the headings, and of nothing else."""
WHY = "WHY"
_LEAST = 20
"""No text is cut to fewer columns."""
_EXPENDABLE = ("MACHINE_TIME", "TIME", "EARLY", "STEP")
"""Columns that go first where there is no room."""


@dataclass(frozen=True)
class Column:
    heading: str
    cell: Callable[[Trial], str]


def columns(view: TrialList, now: datetime) -> list[Column]:
    """Returns the columns that aren't empty."""
    found = [
        Column("TRIAL", lambda t: f"{BEST} {t.number}" if t.number in view.best else str(t.number)),
        Column("STATE", view.shown_state),
        *(_metric(name) for name in view.goals),
        Column("STEP", lambda t: figure(t.measured.step) if t.measured else ""),
        *(_parameter(name) for name in view.parameters),
        Column("TIME", lambda t: duration(seconds(t, now))),
        Column("MACHINE_TIME", lambda t: duration(t.machine_seconds) if t.machine_seconds else ""),
        Column("EARLY", lambda t: "yes" if t.stop_reason else ""),
        Column(WHY, why),
    ]
    return [column for column in found if any(column.cell(trial) for trial in view.trials)]


def why(trial: Trial) -> str:
    """Returns why the trial was stopped, has no result, or waits."""
    return trial.infeasible_reason or trial.stop_reason or trial.waits


def plain_table(view: TrialList, shown: Sequence[Trial], now: datetime) -> str:
    """Returns a table for files and pipes, each trial in one line of any length."""
    found = columns(view, now)
    return table([column.heading for column in found], _rows(found, shown))


def narrow_table(
    view: TrialList, shown: Sequence[Trial], now: datetime, width: int
) -> list[tuple[str, str]]:
    """Returns a table's lines for a terminal of this width, each with its style; the best trial
    stands out.

    In a narrow terminal, reasons follow below their rows, and times are left out. Results and
    parameters are always shown, but long texts among them are cut.
    """
    found = columns(view, now)
    for heading in _EXPENDABLE:
        if _width(found, shown) > width:
            found = [column for column in found if column.heading != heading]
    texts = [*found] if found[-1].heading == WHY else [*found, Column("", lambda _: "")]
    longest = width if _width(found, shown) <= width else max(_LEAST, width // 3)
    rows = [_plain(row, longest) for row in _rows(texts, shown)]
    headings, *lines = folded_rows(_plain([c.heading for c in texts], longest), rows, width)
    styled = [(line, HEADING) for line in headings]
    for trial, parts in zip(shown, lines, strict=True):
        style = "bold green" if trial.number in view.best else _COLOURS.get(trial.state, "")
        styled += [(part, style) for part in parts]
    return styled


def _rows(found: Sequence[Column], shown: Sequence[Trial]) -> list[list[str]]:
    return [[" ".join(column.cell(trial).split()) for column in found] for trial in shown]


def _plain(cells: Sequence[str], longest: int) -> list[str]:
    """Returns the cells without control characters, and cut except for the last one, which holds
    reasons.
    """
    *others, last = (disarm(cell, plain=True) for cell in cells)
    return [*(clip(cell, longest) for cell in others), last]


def _width(found: Sequence[Column], shown: Sequence[Trial]) -> int:
    """Returns the table's width without reasons, which may be shown elsewhere."""
    narrow = [column for column in found if column.heading != WHY]
    return total_width([column.heading for column in narrow], _rows(narrow, shown))


def best_trials(view: TrialList) -> list[Trial]:
    return [trial for trial in view.trials if trial.number in view.best]


def best_line(view: TrialList) -> str:
    """Says which trial is the best and, of several equally good ones, why; '' if none is."""
    best = best_trials(view)
    if not best:
        return ""
    if len(best) > 1:
        numbers = ", ".join(str(trial.number) for trial in best)
        return (
            f"Best: trials {numbers}. No other trial is better than one of these in every metric."
        )
    text = f"Best: trial {best[0].number} with {result(best[0])}"
    return f"{text}: {view.tie}." if view.tie else f"{text}."


def result(trial: Trial) -> str:
    """Returns the trial's metrics, and the step at which they were measured."""
    if trial.measured is None:
        return "no result"
    values = values_of(trial.measured)
    return f"{values} at step {trial.measured.step}" if trial.measured.step else values


def values_of(measured: Measurement) -> str:
    return ", ".join(f"{n} {figure(v)}" for n, v in measured.values.items())


def _metric(name: str) -> Column:
    return Column(name, lambda trial: figure(metric_value(trial, name)))


def _parameter(name: str) -> Column:
    return Column(name, lambda trial: figure(parameter_value(trial, name)))
