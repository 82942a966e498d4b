"""Vizier with nothing but memory behind it; the tuner is the real one."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from footplate.control.suggestions import Suggester
from footplate.control.suggestions.model_fitting import Models
from footplate.control.tuning.early_stopping import EarlyStopping
from footplate.control.tuning.measurement_cache import MeasurementCache
from footplate.control.vizier import EarlyStop, Studies, StudyTrials, Suggesting, Vizier
from footplate.domain.names import JobUid
from tests.support.studies import MemoryStudies

if TYPE_CHECKING:
    from footplate.ports.clock import Clock
    from footplate.ports.studies import StudyStore

_FIRST_ID = 1_000_000_000_000_000_000


class CountingIds:
    """``footplate.control.jobs.Ids``, the same in every run."""

    def __init__(self) -> None:
        self._numbers = count(_FIRST_ID)

    def uid(self) -> JobUid:
        return JobUid(f"{next(self._numbers):x}")

    def number(self) -> int:
        return next(self._numbers)


def memory_vizier(clock: Clock, store: StudyStore | None = None) -> Vizier:
    """Models are fitted when a suggestion wants them, and in no thread."""
    studies = MemoryStudies() if store is None else store
    suggester = Suggester(studies, Models(studies), clock)
    reported = MeasurementCache(studies)
    return Vizier(
        Studies(studies, clock, CountingIds()),
        StudyTrials(studies, clock, lambda _: None),
        Suggesting(studies, suggester, clock),
        EarlyStop(studies, reported, EarlyStopping(reported), clock),
    )
