"""The JSON of trials, in full detail.

A value that isn't finite is the text ``NaN``, ``Infinity`` or ``-Infinity``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.studies.ranking import best, pareto_optimal
from footplate.domain.tuning.prior_trials import prior_trials
from footplate.wire.doubles import double_json
from footplate.wire.timestamps import format_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic import JsonValue

    from footplate.domain.admission import Explanation
    from footplate.domain.jobs import Job
    from footplate.domain.studies.metrics import Measurement
    from footplate.domain.studies.records import (
        Report,
        StoredReport,
        StudyRecord,
        SuggestionRecord,
        TrialRecord,
    )
    from footplate.domain.tuning.search import Search
    from footplate.wire.json_text import JsonObject


def search_json(
    search: Search, study: StudyRecord | None, trials: Sequence[TrialRecord]
) -> JsonObject:
    """Returns a description of the search, and its best trials; ``trials`` are by number.

    ``study`` is None if the job was only just created. With several metrics ``best`` has all
    Pareto-optimal trials.
    """
    counts, config = search.counts, search.study
    answer: JsonObject = {
        "metrics": [{"name": m.name, "goal": m.goal.name} for m in config.metrics],
        "parameters": list(dict.fromkeys(slot.parameter.name for slot in config.space.slots)),
        "algorithm": config.algorithm.name,
        "selection": config.selection.name,
        "counts": {"trials": counts.trials, "parallel": counts.parallel, "failed": counts.failed},
        **_best(search, trials),
    }
    if search.resumes:
        answer["resumes"] = search.resumes
    if study is not None:
        answer |= _earlier(search, study)
        answer["studyState"] = study.state.name
        if study.why_inactive:
            answer["whyInactive"] = study.why_inactive
    return answer


def trial_json(
    trial: TrialRecord, run: Job | None, waiting: Explanation | None, latest: Report | None
) -> JsonObject:
    """Returns a trial.

    ``run`` is the job that runs it now, ``waiting`` explains why that job waits, and ``latest`` is
    the last report of a running trial.
    """
    answer: JsonObject = {
        "number": trial.number,
        "state": trial.state.name,
        "parameters": dict(trial.point),
        "createTime": format_time(trial.create_time),
        "machineSeconds": double_json(trial.machine_s),
        "stoppedEarly": trial.stopped_early,
        **_times(trial),
        **_texts(trial),
    }
    if trial.outcome is not None:
        answer["outcome"] = trial.outcome.value
    if trial.final is not None:
        answer["final"] = _measurement(trial.final)
    if trial.measurements:
        answer["measurements"] = [_measurement(m) for m in trial.measurements]
    if trial.suggestion is not None:
        answer["suggestion"] = _suggestion(trial.suggestion)
    if run is not None:
        why: JsonObject = {} if waiting is None else {"pendingExplanation": waiting.text}
        answer["run"] = {"name": str(run.name), "state": run.state.value, **why}
    if latest is not None:
        answer["latest"] = _report(latest)
    return answer


def measurements_json(reports: Sequence[StoredReport]) -> JsonObject:
    """Returns reports in the order of their arrival, with ascending positions."""
    return {
        "measurements": [
            {"position": stored.position, **_report(stored.report)} for stored in reports
        ]
    }


def _earlier(search: Search, study: StudyRecord) -> JsonObject:
    """Returns the study that a search learned from, and its best trial; nothing if none."""
    prior = prior_trials(search, study.earlier)
    if prior is None:
        return {}
    resource: JsonObject = {"source": prior.source, "trials": prior.count, "equal": prior.equal}
    if prior.best is not None and prior.best.final is not None:
        number: JsonObject = {"number": prior.best.number} if prior.best_of_source else {}
        point: JsonObject = dict(prior.best.point)
        resource["best"] = {**number, "parameters": point, "final": _measurement(prior.best.final)}
    return {"earlier": resource}


def _best(search: Search, trials: Sequence[TrialRecord]) -> JsonObject:
    """Returns the numbers of the best trials; ``tie`` explains the choice among equal ones."""
    metrics, seen = search.study.metrics, [trial.trial() for trial in trials]
    if len(metrics) > 1:
        return {"best": [trial.number for trial in pareto_optimal(seen, metrics)]}
    found = best(seen, metrics[0])
    if found is None:
        return {"best": []}
    answer: JsonObject = {"best": [found.trial.number]}
    return {**answer, "tie": found.tie} if found.tie else answer


def _times(trial: TrialRecord) -> JsonObject:
    times = {"startTime": trial.start_time, "endTime": trial.end_time}
    return {name: format_time(time) for name, time in times.items() if time is not None}


def _texts(trial: TrialRecord) -> JsonObject:
    answer: JsonObject = {
        "clientId": trial.client_id,
        "infeasibleReason": trial.infeasible_reason,
        "stopReason": trial.stop_reason,
        "tagsSeen": list(trial.tags_seen),
    }
    return {name: value for name, value in answer.items() if value}


def _suggestion(given: SuggestionRecord) -> JsonObject:
    answer: JsonObject = {
        "reason": given.reason,
        "sentence": given.sentence,
        "finished": given.finished,
        "pending": list(given.pending),
        "seed": str(given.seed),
        "version": given.version,
        "predictions": [
            {
                "metric": each.metric,
                "value": double_json(each.value),
                "low": double_json(each.low),
                "high": double_json(each.high),
            }
            for each in given.predictions
        ],
    }
    if given.model is not None:
        answer["model"] = given.model
    if given.distance is not None:
        answer["distance"] = double_json(given.distance)
    return answer


def _measurement(measurement: Measurement) -> JsonObject:
    return {
        "step": measurement.step,
        "elapsedSeconds": double_json(measurement.elapsed_s),
        "values": _values(measurement.values),
    }


def _report(report: Report) -> JsonObject:
    return {
        "step": report.step,
        "time": format_time(report.time),
        "elapsedSeconds": double_json(report.elapsed_s),
        "source": report.source,
        "values": _values(report.values),
    }


def _values(values: Mapping[str, float]) -> dict[str, JsonValue]:
    return {name: double_json(value) for name, value in values.items()}
