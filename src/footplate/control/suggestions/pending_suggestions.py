"""Suggestions that are computed but not yet stored."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from footplate.domain.studies.space import key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from footplate.domain.studies.records import TrialRecord


@dataclass(frozen=True)
class PendingSuggestions:
    """Making it takes longer than most trials of a busy study need to report: it stays good while
    they do, as its records say what it has seen.
    """

    after: int
    """The number of the last trial that there was."""
    trials: tuple[TrialRecord, ...]
    exhausted: str
    """Why there are fewer than were asked for, as a sentence; else empty."""
    models: Mapping[int, Mapping[str, object]]
    """By their counts: to be kept with the trials."""

    def holds(self, trials: Sequence[TrialRecord]) -> bool:
        """Whether nobody else has made suggestions, or brought one of its points, meanwhile."""
        newer = [trial for trial in trials if trial.number > self.after]
        points = {key(trial.point) for trial in self.trials}
        return all(trial.suggestion is None and key(trial.point) not in points for trial in newer)

    def numbered(self, last: int) -> tuple[TrialRecord, ...]:
        """Its trials with the numbers that follow ``last``."""
        return tuple(self._moved(trial, last - self.after) for trial in self.trials)

    def _moved(self, trial: TrialRecord, by: int) -> TrialRecord:
        told = trial.suggestion
        if told is not None:
            pending = tuple(n + by if n > self.after else n for n in told.pending)
            told = replace(told, pending=pending)
        return replace(trial, number=trial.number + by, suggestion=told)
