"""The studies port: studies, trials and their reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from footplate.domain.names import StudyName, StudyUid
    from footplate.domain.studies.records import Report, StoredReport, StudyRecord, TrialRecord
    from footplate.ports.pages import Page

MAX_REPORTS = 100_000
"""The most that is kept of one trial."""


@dataclass(frozen=True)
class StudyWithTrials:
    """A study with all of its trials, in the order of their numbers."""

    study: StudyRecord
    trials: tuple[TrialRecord, ...] = ()


class StudyStore(Protocol):
    """The store of studies. Every method is one transaction: it happens whole or not at all.

    All may raise Unavailable when the database can't be reached or its disk is full.
    """

    def create(self, study: StudyRecord) -> None:
        """Keeps a new study.

        Raises:
            AlreadyExists: there is one of this uid, or of this name, or its location has one of
                this display name; nothing was changed. Studies of tuning jobs (without a name)
                may share display names.
            InvalidArgument: a text can't be kept.
        """
        ...

    def load(self, uid: StudyUid) -> StudyWithTrials:
        """Raises NotFound."""
        ...

    def find(self, name: StudyName) -> StudyWithTrials:
        """Raises NotFound, naming the study."""
        ...

    def lookup(self, collection: str, display_name: str) -> StudyRecord:
        """Returns the study of this display name among those of a location. Raises NotFound."""
        ...

    def list(self, collection: str, *, limit: int, after: str | None) -> Page[StudyRecord]:
        """Studies of one collection (``StudyName.collection``), newest first.

        Raises:
            InvalidArgument: ``after`` is no key of a page.
        """
        ...

    def write(
        self,
        study: StudyRecord,
        trials: Sequence[TrialRecord] = (),
        models: Mapping[int, Mapping[str, object]] | None = None,
        dropped: Sequence[int] = (),
    ) -> None:
        """Writes the study, and of its trials those that are new or changed.

        ``study.earlier`` is not written: what was kept at its making stays.

        ``models``: fitted ones to keep, by the number of finished trials that they were fitted
        to, as JSON can hold them. ``dropped``: trials that are deleted, with their reports; it
        doesn't matter whether they are there.

        Raises:
            Aborted: the stored version isn't ``study.version - 1``; nothing was changed.
            NotFound: there is no such study.
            InvalidArgument: a text can't be kept, or a value of a point is no number.
        """
        ...

    def model(self, uid: StudyUid, finished: int) -> Mapping[str, object] | None:
        """Returns the model fitted to the first ``finished`` trials; None if there is none."""
        ...

    def report(self, uid: StudyUid, number: int, reports: Sequence[Report]) -> int:
        """Keeps those whose keys the trial doesn't have yet, up to MAX_REPORTS for a trial.

        The study's version stays. Returns how many are new. Raises NotFound: no such trial.
        """
        ...

    def reports(
        self, uid: StudyUid, number: int | None = None, after: int = 0, limit: int = 100_000
    ) -> tuple[StoredReport, ...]:
        """Returns reports of one trial (None: of all), behind a position, in order of arrival.

        Positions of reports that were deleted are never given again. Unknown: none.
        """
        ...

    def delete(self, uid: StudyUid) -> None:
        """Drops the study, its trials, models and reports; does nothing for an unknown one."""
        ...
