"""Trials for other programs: nothing is left out or rounded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.cli.output_format import csv_text, yaml_text
from footplate.cli.terminal_text import spell_json
from footplate.cli.trials.fields import fields
from footplate.wire.doubles import double_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pydantic import JsonValue

    from footplate.cli.trials.fields import Value
    from footplate.client.trials import MeasurementView, TrialsView, TrialView


def as_json(view: TrialsView, shown: Sequence[TrialView]) -> str:
    """Returns the search and its trials as one JSON object."""
    return spell_json(_document(view, shown), indent=2)


def as_yaml(view: TrialsView, shown: Sequence[TrialView]) -> str:
    return yaml_text(_document(view, shown), sort_keys=False)


def as_csv(view: TrialsView, shown: Sequence[TrialView]) -> str:
    """Returns a row for each trial, with a column for each metric and parameter."""
    known = fields(view)
    rows = ([csv_cell(field.read(trial)) for field in known] for trial in shown)
    return csv_text([field.name for field in known], rows)


def flat(view: TrialsView, trial: TrialView) -> dict[str, JsonValue]:
    """Returns the fields for ``value(...)``: the columns of the CSV, and the fields of the JSON."""
    short = {field.name: _plain(field.read(trial)) for field in fields(view)}
    return {**trial.resource, **short}


def _plain(value: Value) -> JsonValue:
    """Returns the value for JSON, which has no infinities."""
    return double_json(value) if isinstance(value, float) else value


def curve_rows(
    view: TrialsView, number: int, measurements: Iterable[MeasurementView]
) -> list[dict[str, JsonValue]]:
    """Returns a row for each report of a trial; metrics by their names, absent ones None."""
    return [
        {
            "trial": number,
            "step": each.step,
            **{
                name: double_json(each.values[name]) if name in each.values else None
                for name in view.metrics
            },
            "elapsed_seconds": each.elapsed_s,
            "time": each.time,
            "source": each.source,
        }
        for each in measurements
    ]


def csv_cell(value: Value) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _document(view: TrialsView, shown: Sequence[TrialView]) -> dict[str, JsonValue]:
    return {**view.resource, "trials": [dict(trial.resource) for trial in shown]}
