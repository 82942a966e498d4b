"""A cache of trials."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from footplate.domain.names import StudyUid
    from footplate.domain.studies.records import TrialRecord

MOST_TRIALS = 10_000
"""Of all studies together; those of the longest unread study are forgotten first."""


@dataclass(frozen=True)
class _Remembered:
    version: int
    trials: tuple[TrialRecord, ...]


class TrialCache:
    """The trials of studies, each at one version. Any thread may call it.

    A study's version rises with every write to its trials, and a uid is never given twice: so
    what was found at a version stays true of it, whoever else writes the database. Who reads
    another version than the remembered one asks the database for its trials.
    """

    def __init__(self, most: int = MOST_TRIALS) -> None:
        self._most = most
        self._lock = Lock()
        self._studies: OrderedDict[StudyUid, _Remembered] = OrderedDict()
        self._count = 0

    def get(self, uid: StudyUid, version: int) -> tuple[TrialRecord, ...] | None:
        with self._lock:
            known = self._studies.get(uid)
            if known is None or known.version != version:
                return None
            self._studies.move_to_end(uid)
            return known.trials

    def put(self, uid: StudyUid, version: int, trials: tuple[TrialRecord, ...]) -> None:
        """Stores all trials of a study, in the order of their numbers; ignores older versions."""
        with self._lock:
            known = self._studies.get(uid)
            if known is not None and known.version > version:
                return
            self._drop(uid)
            self._studies[uid] = _Remembered(version, trials)
            self._count += len(trials)
            while self._count > self._most and len(self._studies) > 1:
                self._drop(next(iter(self._studies)))

    def follow(
        self,
        uid: StudyUid,
        version: int,
        written: Iterable[TrialRecord],
        dropped: Collection[int],
    ) -> None:
        """Updates the trials to this version with those that its writer has written and dropped."""
        before = self.get(uid, version - 1)
        if before is None:
            return
        trials = {trial.number: trial for trial in (*before, *written)}
        left = tuple(trials[number] for number in sorted(trials) if number not in dropped)
        self.put(uid, version, left)

    def forget(self, uid: StudyUid) -> None:
        with self._lock:
            self._drop(uid)

    def _drop(self, uid: StudyUid) -> None:
        known = self._studies.pop(uid, None)
        if known is not None:
            self._count -= len(known.trials)
