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
    from footplate.wire.footplate_v1.trials import Measurement, Trial, TrialList


def as_json(view: TrialList, shown: Sequence[Trial]) -> str:
    """Returns the search and its trials as one JSON object."""
    return spell_json(_document(view, shown), indent=2)


def as_yaml(view: TrialList, shown: Sequence[Trial]) -> str:
    return yaml_text(_document(view, shown), sort_keys=False)


def as_csv(view: TrialList, shown: Sequence[Trial]) -> str:
    """Returns a row for each trial, with a column for each metric and parameter."""
    known = fields(view)
    rows = ([csv_cell(field.read(trial)) for field in known] for trial in shown)
    return csv_text([field.name for field in known], rows)


def flat(view: TrialList, trial: Trial) -> dict[str, JsonValue]:
    """Returns the fields for ``value(...)``: the columns of the CSV, and the fields of the JSON."""
    short = {field.name: _plain(field.read(trial)) for field in fields(view)}
    return {**view.shown(trial), **short}


def _plain(value: Value) -> JsonValue:
    """Returns the value for JSON, which has no infinities."""
    return double_json(value) if isinstance(value, float) else value


def curve_rows(
    view: TrialList, number: int, measurements: Iterable[Measurement]
) -> list[dict[str, JsonValue]]:
    """Returns a row for each report of a trial; metrics by their names, absent ones None."""
    return [
        {
            "trial": number,
            "step": each.step,
            **{
                name: double_json(each.values[name]) if name in each.values else None
                for name in view.goals
            },
            "elapsed_seconds": each.elapsed_seconds,
            "time": each.time,
            "source": each.source,
        }
        for each in measurements
    ]


def csv_cell(value: Value) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _document(view: TrialList, shown: Sequence[Trial]) -> dict[str, JsonValue]:
    return {**view.encode(), "trials": [view.shown(trial) for trial in shown]}
