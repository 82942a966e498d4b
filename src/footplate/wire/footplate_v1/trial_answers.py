"""Makes the answers on trials.

A value that isn't finite is the text ``NaN``, ``Infinity`` or ``-Infinity``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from footplate.domain.admission import Explanation
from footplate.domain.jobs import Job
from footplate.domain.studies import metrics
from footplate.domain.studies.ranking import best, pareto_optimal
from footplate.domain.studies.records import Report, StudyRecord, SuggestionRecord, TrialRecord
from footplate.domain.tuning.prior_trials import prior_trials
from footplate.domain.tuning.search import Search
from footplate.wire.footplate_v1.trials import (
    Counts,
    Earlier,
    EarlierTrial,
    Measurement,
    Metric,
    Prediction,
    Run,
    Suggestion,
    Trial,
    TrialList,
)
from footplate.wire.timestamps import format_time


def list_answer(
    job: Job,
    search: Search,
    study: StudyRecord | None,
    found: Sequence[TrialRecord],
    trials: Sequence[Trial],
) -> TrialList:
    """Returns a description of the search, its best trials, and ``trials``, made of ``found``.

    ``study`` is None if the job was only just created. With several metrics ``best`` has all
    Pareto-optimal trials.
    """
    counts, config = search.counts, search.study
    numbers, tie = _best(search, found)
    given = {"tie": tie, "resumes": search.resumes}
    if study is not None:
        given["study_state"] = study.state.name
        given["why_inactive"] = study.why_inactive
    return TrialList(
        name=str(job.name),
        display_name=job.display_name,
        state=job.state.value,
        metrics=tuple(Metric(name=m.name, goal=m.goal.name) for m in config.metrics),
        parameters=tuple(dict.fromkeys(slot.parameter.name for slot in config.space.slots)),
        algorithm=config.algorithm.name,
        selection=config.selection.name,
        counts=Counts(trials=counts.trials, parallel=counts.parallel, failed=counts.failed),
        best=numbers,
        earlier=None if study is None else _earlier(search, study),
        trials=tuple(trials),
        **_given(**given),
    )


def trial_answer(
    trial: TrialRecord, run: Job | None, waiting: Explanation | None, latest: Report | None
) -> Trial:
    """Returns a trial.

    ``run`` is the job that runs it now, ``waiting`` explains why that job waits, and ``latest`` is
    the last report of a running trial.
    """
    return Trial(
        number=trial.number,
        state=trial.state.name,
        parameters=dict(trial.point),
        create_time=format_time(trial.create_time),
        machine_seconds=trial.machine_s,
        stopped_early=trial.stopped_early,
        final=None if trial.final is None else _measurement(trial.final),
        suggestion=None if trial.suggestion is None else _suggestion(trial.suggestion),
        run=None if run is None else _run(run, waiting),
        latest=None if latest is None else report_answer(latest),
        **_given(
            start_time=trial.start_time and format_time(trial.start_time),
            end_time=trial.end_time and format_time(trial.end_time),
            client_id=trial.client_id,
            infeasible_reason=trial.infeasible_reason,
            stop_reason=trial.stop_reason,
            tags_seen=trial.tags_seen,
            outcome=trial.outcome and trial.outcome.value,
            measurements=tuple(map(_measurement, trial.measurements)),
        ),
    )


def report_answer(report: Report, **given: int) -> Measurement:
    """Returns a report; ``given`` is its ``position``, where it has one."""
    return Measurement(
        step=report.step,
        time=format_time(report.time),
        elapsed_seconds=report.elapsed_s,
        source=report.source,
        values=dict(report.values),
        **given,
    )


def _given(**values: Any) -> dict[str, Any]:
    """Returns the values that aren't empty; the answer lacks the others."""
    return {name: value for name, value in values.items() if value}


def _earlier(search: Search, study: StudyRecord) -> Earlier | None:
    """Returns the study that a search learned from, and its best trial; None if none."""
    prior = prior_trials(search, study.earlier)
    if prior is None:
        return None
    best = None
    if prior.best is not None and prior.best.final is not None:
        best = EarlierTrial(
            parameters=dict(prior.best.point),
            final=_measurement(prior.best.final),
            **_given(number=prior.best.number if prior.best_of_source else 0),
        )
    return Earlier(source=prior.source, trials=prior.count, equal=prior.equal, best=best)


def _best(search: Search, trials: Sequence[TrialRecord]) -> tuple[tuple[int, ...], str]:
    """Returns the numbers of the best trials, and what explains the choice among equal ones."""
    metrics, seen = search.study.metrics, [trial.trial() for trial in trials]
    if len(metrics) > 1:
        return tuple(trial.number for trial in pareto_optimal(seen, metrics)), ""
    found = best(seen, metrics[0])
    return ((), "") if found is None else ((found.trial.number,), found.tie)


def _run(run: Job, waiting: Explanation | None) -> Run:
    why = "" if waiting is None else waiting.text
    return Run(name=str(run.name), state=run.state.value, **_given(pending_explanation=why))


def _suggestion(given: SuggestionRecord) -> Suggestion:
    return Suggestion(
        reason=given.reason,
        sentence=given.sentence,
        finished=given.finished,
        pending=given.pending,
        seed=str(given.seed),
        version=given.version,
        predictions=tuple(
            Prediction(metric=each.metric, value=each.value, low=each.low, high=each.high)
            for each in given.predictions
        ),
        model=given.model,
        distance=given.distance,
    )


def _measurement(measurement: metrics.Measurement) -> Measurement:
    return Measurement(
        step=measurement.step,
        elapsed_seconds=measurement.elapsed_s,
        values=dict(measurement.values),
    )
