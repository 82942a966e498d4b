"""Trials of tuning jobs as clients see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.errors import NotFound
from footplate.domain.names import StudyUid, run_uid

if TYPE_CHECKING:
    from footplate.domain.jobs import Job
    from footplate.domain.names import JobUid
    from footplate.domain.studies.records import StoredReport, StudyRecord, TrialRecord
    from footplate.ports.store import Store
    from footplate.ports.studies import StudyStore


class Trials:
    """See :class:`footplate.api.trials_service.TrialsService`."""

    def __init__(self, store: Store, studies: StudyStore) -> None:
        self._store = store
        self._studies = studies

    def study(self, uid: JobUid) -> StudyRecord | None:
        try:
            return self._studies.load(StudyUid(uid)).study
        except NotFound:
            return None

    def trials(self, uid: JobUid) -> tuple[TrialRecord, ...]:
        try:
            return self._studies.load(StudyUid(uid)).trials
        except NotFound:
            return ()

    def runs(self, job: Job) -> dict[int, Job]:
        numbers = (trial.number for trial in self.trials(job.uid) if not trial.state.ended)
        found = ((number, self._run(job, number)) for number in numbers)
        return {number: run for number, run in found if run is not None}

    def reports(self, uid: JobUid, number: int) -> tuple[StoredReport, ...]:
        return self._studies.reports(StudyUid(uid), number)

    def delete(self, uid: JobUid) -> None:
        """Drop the study of a tuning job; of any other job: nothing happens."""
        self._studies.delete(StudyUid(uid))

    def _run(self, job: Job, number: int) -> Job | None:
        try:
            return self._store.get_by_uid(run_uid(job.uid, number))
        except NotFound:
            return None
