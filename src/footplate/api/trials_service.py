"""The interface of the trials service that the APIs call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from footplate.domain.jobs import Job
    from footplate.domain.names import JobUid
    from footplate.domain.studies.metrics import Measurement
    from footplate.domain.studies.records import StoredReport, StudyRecord, TrialRecord
    from footplate.domain.studies.stopping import ReplayedStop, StoppingSpec


class TrialsService(Protocol):
    """Trials as clients see them; ``footplate.control.tuning.trials.Trials`` is it."""

    def study(self, uid: JobUid) -> StudyRecord | None:
        """Returns a tuning job's record without trials; None: it isn't one, or was just made."""
        ...

    def trials(self, uid: JobUid) -> tuple[TrialRecord, ...]:
        """Returns a tuning job's trials, in the order of their numbers; for any other job none."""
        ...

    def runs(self, job: Job) -> dict[int, Job]:
        """The jobs that run trials of a tuning job now, by the numbers of these."""
        ...

    def reports(self, uid: JobUid, number: int) -> tuple[StoredReport, ...]:
        """Returns a trial's reports so far, in the order of arrival."""
        ...

    def curves(self, uid: JobUid) -> Mapping[int, tuple[Measurement, ...]]:
        """Returns each trial's reports so far by its number, in the order of steps."""
        ...

    def replay(self, uid: JobUid, spec: StoppingSpec) -> tuple[ReplayedStop, ...]:
        """The trials that have ended and would have been stopped by this rule.

        Raises FailedPrecondition where the search has several metrics.
        """
        ...


class NoTrials:
    """The trials of a service that keeps none."""

    def study(self, uid: JobUid) -> StudyRecord | None:  # noqa: ARG002 - one for all
        return None

    def trials(self, uid: JobUid) -> tuple[TrialRecord, ...]:  # noqa: ARG002 - one for all
        return ()

    def runs(self, job: Job) -> dict[int, Job]:  # noqa: ARG002 - one for all
        return {}

    def reports(self, uid: JobUid, number: int) -> tuple[StoredReport, ...]:  # noqa: ARG002 - one for all
        return ()

    def curves(self, uid: JobUid) -> Mapping[int, tuple[Measurement, ...]]:  # noqa: ARG002 - one for all
        return {}

    def replay(self, uid: JobUid, spec: StoppingSpec) -> tuple[ReplayedStop, ...]:  # noqa: ARG002 - one for all
        return ()


NO_TRIALS: TrialsService = NoTrials()
