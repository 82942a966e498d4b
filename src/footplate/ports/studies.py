"""The studies port: studies, trials and their reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

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
    """The store of studies; every method is one transaction, which succeeds or has no effect.

    All may raise Unavailable if the database can't be reached or its disk is full.
    """

    def create(self, study: StudyRecord) -> None:
        """Stores a new study.

        Raises:
            AlreadyExists: a study has this uid or name, or one in its location has this display
                name; nothing was changed. Studies of tuning jobs may share display names.
            InvalidArgument: a text can't be stored.
        """
        ...

    def load(self, uid: StudyUid) -> StudyWithTrials:
        """Returns the study with this uid. Raises NotFound."""
        ...

    def find(self, name: StudyName) -> StudyWithTrials:
        """Returns the study of this name. Raises NotFound, which names the study."""
        ...

    def lookup(self, collection: str, display_name: str) -> StudyRecord:
        """Returns the study with this display name in a location. Raises NotFound."""
        ...

    def list(self, collection: str, *, limit: int, after: str | None) -> Page[StudyRecord]:
        """Lists the studies of one collection (``StudyName.collection``), newest first.

        Raises:
            InvalidArgument: ``after`` is not the key of a page.
        """
        ...

    def write(
        self,
        study: StudyRecord,
        trials: Sequence[TrialRecord] = (),
        models: Mapping[int, Mapping[str, object]] | None = None,
        dropped: Sequence[int] = (),
    ) -> None:
        """Writes the study, and the given new or changed trials of it.

        ``study.earlier`` is not written: its value from the creation stays.

        ``models`` are fitted models to store, as JSON values, by the number of finished trials to
        which they were fitted. ``dropped`` are trials to delete with their reports, if they exist.

        Raises:
            Aborted: the stored version isn't ``study.version - 1``; nothing was changed.
            NotFound: the study doesn't exist.
            InvalidArgument: a text can't be stored, or a value of a point is not a number.
        """
        ...

    def model(self, uid: StudyUid, finished: int) -> Mapping[str, object] | None:
        """Returns the model fitted to the first ``finished`` trials; None if there is none."""
        ...

    def report(self, uid: StudyUid, number: int, reports: Sequence[Report]) -> int:
        """Stores reports with new keys, up to MAX_REPORTS for a trial; returns their number.

        The study's version doesn't change. Raises NotFound: the trial doesn't exist.
        """
        ...

    def reports(
        self, uid: StudyUid, number: int | None = None, after: int = 0, limit: int = 100_000
    ) -> tuple[StoredReport, ...]:
        """Returns the reports of one trial (None: of all) after a position, in order of arrival.

        Positions of deleted reports are never reused. Unknown studies and trials have none.
        """
        ...

    def delete(self, uid: StudyUid) -> None:
        """Deletes the study, its trials, models and reports; does nothing for an unknown one."""
        ...
