"""Formats trials as ml v1 responses.

``errorMessage`` of a trial, why it has no result, is a field of ours.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from footplate.domain.job_states import State
from footplate.domain.jobs import Job
from footplate.domain.studies.metrics import Metric
from footplate.domain.studies.ranking import by_rank
from footplate.domain.studies.records import TrialRecord
from footplate.domain.studies.space import Point, SearchSpace
from footplate.domain.tuning.search import Search
from footplate.domain.tuning.trial_spec import written
from footplate.wire.json_text import JsonObject
from footplate.wire.timestamps import format_time

_NO_SHELLS: Mapping[str, str] = MappingProxyType({})


def search_output(search: Search) -> JsonObject:
    """Returns a tuning job's ``trainingOutput`` without its trials, as in lists."""
    return {
        "isHyperparameterTuningJob": True,
        "hyperparameterMetricTag": search.study.metrics[0].name,
    }


def trials_output(trials: Sequence[TrialRecord], outputs: Sequence[JsonObject]) -> JsonObject:
    """Returns the output on all trials; ``outputs`` has the answer for each, in their order."""
    completed = sum(1 for trial in trials if trial.verdict is State.SUCCEEDED)
    answer: JsonObject = {"completedTrialCount": str(completed)}
    return {**answer, "trials": list(outputs)} if outputs else answer


def in_order(trials: Sequence[TrialRecord], search: Search, *, ended: bool) -> list[TrialRecord]:
    """Sorts trials: the best first once the job has ended; by number while it runs."""
    by_number = {trial.number: trial for trial in sorted(trials, key=lambda t: t.number)}
    if not ended:
        return list(by_number.values())
    ranked = by_rank([t.trial() for t in by_number.values()], search.study.metrics[0])
    return [by_number[trial.number] for trial in ranked]


def trial_json(
    trial: TrialRecord,
    search: Search,
    run: Job | None = None,
    shells: Mapping[str, str] = _NO_SHELLS,
) -> JsonObject:
    """Returns a trial.

    ``run`` is the job that runs it now, ``shells`` the addresses of its shells, by replica.
    ``allMetrics`` stays empty, as in Google's service.
    """
    answer: JsonObject = {
        "trialId": str(trial.number),
        "hyperparameters": dict(_texts(search.study.space, trial.point)),
        "state": _state(trial, run).value,
    }
    answer |= _final(trial, search.study.metrics[0])
    if trial.start_time is not None:
        answer["startTime"] = format_time(trial.start_time)
    if trial.end_time is not None:
        answer["endTime"] = format_time(trial.end_time)
    if trial.stopped_early:
        answer["isTrialStoppedEarly"] = True
    if trial.infeasible_reason:
        answer["errorMessage"] = trial.infeasible_reason
    if shells:
        answer["webAccessUris"] = dict(shells)
    return answer


def _texts(space: SearchSpace, point: Point) -> dict[str, str]:
    """Returns the values in the form in which the program got them."""
    active = zip(space.slots, space.active_values(point), strict=True)
    return {s.parameter.name: written(s.parameter, v) for s, v in active if v is not None}


def _final(trial: TrialRecord, metric: Metric) -> JsonObject:
    """Returns the final value if it is a finite number: sorting by anything else would fail."""
    value = None if trial.final is None else trial.final.values.get(metric.name)
    if trial.final is None or value is None or not math.isfinite(value):
        return {}
    final: JsonObject = {"trainingStep": str(trial.final.step), "objectiveValue": value}
    return {"finalMetric": final}


def _state(trial: TrialRecord, run: Job | None) -> State:
    """Returns the state; a trial that isn't judged yet may have a run that has already ended."""
    if trial.verdict is not None:
        return trial.verdict
    if run is not None and not run.state.terminal:
        return run.state
    return State.QUEUED if trial.start_time is None else State.RUNNING
