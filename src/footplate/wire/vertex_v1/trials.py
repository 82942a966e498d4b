"""Formats trials as aiplatform v1 responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from footplate.domain.names import JobName
from footplate.domain.studies.metrics import Measurement
from footplate.domain.studies.records import TrialRecord
from footplate.domain.studies.trials import TrialState
from footplate.wire.doubles import double_json
from footplate.wire.durations import format_duration
from footplate.wire.json_text import JsonObject
from footplate.wire.timestamps import format_time

MOST_MEASUREMENTS = 100
"""Of one trial in an answer; there can be a hundred thousand."""
_NO_SHELLS: Mapping[str, str] = MappingProxyType({})


def trial_json(
    parent: str,
    trial: TrialRecord,
    reported: Sequence[Measurement] = (),
    custom_job: JobName | None = None,
    shells: Mapping[str, str] = _NO_SHELLS,
) -> JsonObject:
    """Returns a trial.

    ``parent`` is the name of its study or tuning job. ``reported`` has its intermediate
    measurements, see :mod:`footplate.domain.studies.learning_curves`; of many only some are
    returned, evenly chosen, with the first and the last one. ``custom_job`` runs the trial;
    ``shells`` has the addresses of that job's shells, by replica.
    """
    answer: JsonObject = {
        "name": f"{parent}/trials/{trial.number}",
        "id": str(trial.number),
        "state": trial.state.name,
        "parameters": [{"parameterId": name, "value": v} for name, v in trial.point.items()],
    }
    if trial.final is not None:
        answer["finalMeasurement"] = measurement_json(trial.final)
    if measurements := _ordered(trial, reported):
        shown = evenly(measurements, MOST_MEASUREMENTS)
        answer["measurements"] = [measurement_json(each) for each in shown]
    if trial.start_time is not None:
        answer["startTime"] = format_time(trial.start_time)
    if trial.end_time is not None:
        answer["endTime"] = format_time(trial.end_time)
    if trial.client_id:
        answer["clientId"] = trial.client_id
    if trial.state is TrialState.INFEASIBLE and trial.infeasible_reason:
        answer["infeasibleReason"] = trial.infeasible_reason
    if custom_job is not None:
        answer["customJob"] = str(custom_job)
    if shells:
        answer["webAccessUris"] = dict(shells)
    return answer


def measurement_json(measurement: Measurement) -> JsonObject:
    """Encodes a measurement; values that aren't finite become texts."""
    return {
        "elapsedDuration": format_duration(measurement.elapsed_s),
        "stepCount": str(measurement.step),
        "metrics": [
            {"metricId": name, "value": double_json(value)}
            for name, value in measurement.values.items()
        ],
    }


def evenly(measurements: Sequence[Measurement], most: int) -> list[Measurement]:
    """Returns at most ``most`` (2 or more) measurements, evenly chosen, with both ends."""
    last = len(measurements) - 1
    if last < most:
        return list(measurements)
    return [measurements[place * last // (most - 1)] for place in range(most)]


def _ordered(trial: TrialRecord, reported: Sequence[Measurement]) -> list[Measurement]:
    """Returns all measurements by step, then by time, as Google's service does."""
    return sorted((*trial.measurements, *reported), key=lambda m: (m.step, m.elapsed_s))
