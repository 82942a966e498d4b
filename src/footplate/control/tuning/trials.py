"""Trials of tuning jobs as clients see them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from footplate.control.suggestions import tuner_loader
from footplate.control.tuning.measurement_cache import MeasurementCache
from footplate.domain.errors import FailedPrecondition, NotFound
from footplate.domain.jobs import Job
from footplate.domain.names import JobUid, StudyUid, run_uid
from footplate.domain.studies.metrics import Measurement
from footplate.domain.studies.records import StoredReport, StudyRecord, TrialRecord
from footplate.domain.studies.stopping import PastTrial, ReplayedStop, StoppingSpec
from footplate.ports.store import Store
from footplate.ports.studies import StudyStore


class Trials:
    def __init__(self, store: Store, studies: StudyStore, reported: MeasurementCache) -> None:
        self._store = store
        self._studies = studies
        self._reported = reported

    def study(self, uid: JobUid) -> StudyRecord | None:
        """Returns a tuning job's record without trials; None: it isn't one, or was just made."""
        try:
            return self._studies.load(StudyUid(uid)).study
        except NotFound:
            return None

    def trials(self, uid: JobUid) -> tuple[TrialRecord, ...]:
        """Returns a tuning job's trials, in the order of their numbers; for any other job none."""
        try:
            return self._studies.load(StudyUid(uid)).trials
        except NotFound:
            return ()

    def runs(self, job: Job) -> dict[int, Job]:
        """The jobs that run trials of a tuning job now, by the numbers of these."""
        numbers = (trial.number for trial in self.trials(job.uid) if not trial.state.ended)
        found = ((number, self._run(job, number)) for number in numbers)
        return {number: run for number, run in found if run is not None}

    def reports(self, uid: JobUid, number: int) -> tuple[StoredReport, ...]:
        """Returns a trial's reports so far, in the order of arrival."""
        return self._studies.reports(StudyUid(uid), number)

    def curves(self, uid: JobUid) -> Mapping[int, tuple[Measurement, ...]]:
        """Returns each trial's reports so far by its number, in the order of steps."""
        study = self.study(uid)
        if study is None:
            return {}
        return self._reported.curves(study.uid, study.config.metrics)

    def replay(self, uid: JobUid, spec: StoppingSpec) -> tuple[ReplayedStop, ...]:
        """The trials that have ended and would have been stopped by this rule.

        Raises FailedPrecondition where the search has several metrics.
        """
        study = self.study(uid)
        if study is None:
            return ()
        if len(study.config.metrics) > 1:
            raise FailedPrecondition(
                "the server replays stopping rules only for searches with a single metric"
            )
        past = _past(self.trials(uid), self.curves(uid))
        return tuner_loader.load().replay(replace(study.config, stopping=spec), past)

    def delete(self, uid: JobUid) -> None:
        """Deletes the study of a tuning job; does nothing for other jobs."""
        self._studies.delete(StudyUid(uid))

    def _run(self, job: Job, number: int) -> Job | None:
        try:
            return self._store.get_by_uid(run_uid(job.uid, number))
        except NotFound:
            return None


def _past(
    trials: tuple[TrialRecord, ...], curves: Mapping[int, tuple[Measurement, ...]]
) -> list[PastTrial]:
    """Returns the trials that ran and have ended."""
    return [
        PastTrial(
            trial.trial(curves.get(trial.number, ())),
            trial.start_time.timestamp(),
            trial.end_time.timestamp(),
        )
        for trial in trials
        if trial.state.ended and trial.start_time is not None and trial.end_time is not None
    ]
