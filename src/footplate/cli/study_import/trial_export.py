"""Reads trials exported from Vertex AI or Footplate."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from footplate.cli.study_import.finished_study import (
    Choices,
    FinishedStudy,
    FinishedTrial,
    Measured,
    Span,
    whole,
)
from footplate.domain.errors import InvalidArgument
from footplate.domain.formatting import listed, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.cli.study_import.finished_study import Domain, Value

_GOALS = {"1": "MAXIMIZE", "2": "MINIMIZE", "0": "MAXIMIZE", "GOAL_TYPE_UNSPECIFIED": "MAXIMIZE"}
_STATES = {"4": "SUCCEEDED", "5": "INFEASIBLE", "FAILED": "INFEASIBLE", "CANCELLED": "INFEASIBLE"}
"""Of aiplatform v1, as numbers, and of ml v1, which tells failed trials from cancelled ones."""
_ENDED = ("SUCCEEDED", "INFEASIBLE")


@dataclass(frozen=True)
class _Row:
    """A trial as some file has it; values of metrics may be anything."""

    state: str
    parameters: Mapping[str, Value]
    final: Measured | None
    reason: str
    curve: tuple[Measured, ...] = ()


def read_document(document: object, metrics: Sequence[str], goal: str) -> FinishedStudy:
    """Of a HyperparameterTuningJob, of its trials, or of what ``trials --format=json`` wrote.

    ``metrics`` and ``goal`` (MAXIMIZE, MINIMIZE) say what the document doesn't; empty: nothing.

    Raises:
        InvalidArgument: it is something else, or doesn't say what its goal is.
    """
    about = dict(document) if isinstance(document, Mapping) else {}
    items = about.get("trials") if about else document
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        allowed = "a HyperparameterTuningJob, a list of its trials, or an export of `trials`"
        raise InvalidArgument(f"there are no trials in the file; allowed: {allowed}")
    rows = [_row(item) for item in items]
    spec = _camel(about, "studySpec")
    if isinstance(spec, dict):
        goals = _goals(spec.get("metrics"), "metricId")
        return _study(rows, goals, spec)
    found_goals = _goals(about.get("metrics"), "name")
    return _study(rows, found_goals or _given(rows, metrics, goal), None)


def read_csv(text: str, metrics: Sequence[str], goal: str) -> FinishedStudy:
    """What ``trials --format=csv`` wrote: metrics stand before ``step``, parameters behind it."""
    reader = csv.reader(io.StringIO(text))
    headings = next(reader, [])
    try:
        best, step, start = (headings.index(name) for name in ("best", "step", "start_time"))
        reason = headings.index("infeasible_reason")
    except ValueError as error:
        why = f"the file has no column {str(error).split(' ')[0]}"
        raise InvalidArgument(f"{why}; allowed: what `trials --format=csv` writes") from None
    names = [name.removeprefix("metrics.") for name in headings[best + 1 : step]]
    known = [name.removeprefix("parameters.") for name in headings[step + 1 : start]]
    rows = []
    for cells in reader:
        values = _numbers(dict(zip(names, cells[best + 1 : step], strict=True)))
        point = dict(zip(known, map(_typed, cells[step + 1 : start]), strict=True))
        final = Measured(values, int(cells[step] or 0)) if len(values) == len(names) else None
        parameters = {name: value for name, value in point.items() if value != ""}
        state = cells[headings.index("state")]
        rows.append(_Row(_STATES.get(state, state), parameters, final, cells[reason]))
    return _study(rows, _given(rows, metrics or names, goal), None)


def _study(
    rows: Sequence[_Row], goals: Mapping[str, str], spec: dict[str, Any] | None
) -> FinishedStudy:
    ended = [row for row in rows if row.state in _ENDED]
    notes = []
    if left := len(rows) - len(ended):
        notes.append(f"{left} of {len(rows)} trials are left out: they haven't ended")
    trials = tuple(_finished(row, goals) for row in ended)
    if spec is not None:
        return FinishedStudy(goals, trials, spec=spec, notes=tuple(notes))
    domains = _domains(trials)
    spans = [name for name, domain in domains.items() if isinstance(domain, Span)]
    if spans:
        spanned = ", ".join(spans)
        notes.append(
            f"the file has no ranges: those of {spanned} go from the least to the most tried"
        )
    return whole(FinishedStudy(goals, trials, domains, notes=tuple(notes)))


def _finished(row: _Row, goals: Mapping[str, str]) -> FinishedTrial:
    """A trial whose metrics aren't all there, or not all numbers, has no result."""
    curve = tuple(m for m in row.curve if all(name in m.values for name in goals))
    if row.state == "SUCCEEDED" and row.final and all(name in row.final.values for name in goals):
        final = Measured({name: row.final.values[name] for name in goals}, row.final.step)
        return FinishedTrial(row.parameters, final, "", curve)
    reason = row.reason or "its value isn't a number"
    return FinishedTrial(row.parameters, None, reason, curve)


def _given(rows: Sequence[_Row], metrics: Sequence[str], goal: str) -> dict[str, str]:
    reported = dict.fromkeys(name for row in rows if row.final for name in row.final.values)
    if not reported:
        raise InvalidArgument("no trial in the file has a result")
    if strange := [name for name in metrics if name not in reported]:
        known = listed([*reported])
        raise InvalidArgument(f"--metric: {quoted(strange[0])} given; the file has {known}")
    names = list(metrics or reported)
    if not goal:
        listed_names = " and ".join(names)
        raise InvalidArgument(f"the file doesn't say what is best of {listed_names}: give --goal")
    return dict.fromkeys(names, goal)


def _goals(metrics: object, key: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for metric in metrics if isinstance(metrics, list) else []:
        goal = str(metric.get("goal") or "MAXIMIZE")
        found[str(_camel(metric, key))] = _GOALS.get(goal, goal)
    return found


def _row(item: Mapping[str, Any]) -> _Row:
    state = str(item.get("state"))
    parameters = item.get("parameters") or {}
    if isinstance(parameters, list):  # as aiplatform v1 has them
        parameters = {str(_camel(p, "parameterId")): p.get("value") for p in parameters}
    final = _camel(item, "finalMeasurement") or item.get("final")
    return _Row(
        state=_STATES.get(state, state),
        parameters={name: _value(value) for name, value in parameters.items()},
        final=_measured(final) if isinstance(final, Mapping) else None,
        reason=str(_camel(item, "infeasibleReason") or ""),
        curve=tuple(_measured(m) for m in item.get("measurements") or ()),
    )


def _measured(item: Mapping[str, Any]) -> Measured:
    values = item.get("values")
    if not isinstance(values, Mapping):
        listed = item.get("metrics") or []
        values = {str(_camel(m, "metricId")): m.get("value", 0.0) for m in listed}
    step = _camel(item, "stepCount") or item.get("step") or 0
    return Measured(_numbers(values), int(step))


def _numbers(values: Mapping[str, object]) -> dict[str, float]:
    """Those that are finite numbers."""
    found = {}
    for name, value in values.items():
        try:
            number = float(str(value))
        except ValueError:
            continue
        if math.isfinite(number):
            found[name] = number
    return found


def _value(value: object) -> Value:
    return value if isinstance(value, str | int | float) else str(value)


def _typed(cell: str) -> Value:
    """A number where the text is one."""
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return cell


def _domains(trials: Sequence[FinishedTrial]) -> dict[str, Domain]:
    seen: dict[str, list[Value]] = {}
    for trial in trials:
        for name, value in trial.parameters.items():
            seen.setdefault(name, []).append(value)
    return {name: _domain(values) for name, values in seen.items()}


def _domain(values: Sequence[Value]) -> Domain:
    numbers = [value for value in values if not isinstance(value, str)]
    if len(numbers) < len(values):
        return Choices(tuple(dict.fromkeys(map(str, values))))
    low, high = min(numbers), max(numbers)
    if low == high:
        return Choices((low,))
    return Span(low, high, integral=all(isinstance(number, int) for number in numbers))


def _camel(item: Mapping[str, Any], key: str) -> Any:
    """A field in either spelling: the SDK writes both."""
    snake = "".join(f"_{c.lower()}" if c.isupper() else c for c in key)
    return item[key] if key in item else item.get(snake)
