"""Vizier, made and joined."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.control.vizier import EarlyStop, Studies, StudyTrials, Suggesting, Vizier
from footplate.server.machine import RandomIds

if TYPE_CHECKING:
    from footplate.ports.clock import Clock
    from footplate.ports.studies import StudyStore
    from footplate.server.tuning import TuningParts


def make_vizier(studies: StudyStore, tuning: TuningParts, clock: Clock) -> Vizier:
    """It suggests and stops with the very parts that tuning jobs use."""
    return Vizier(
        Studies(studies, clock, RandomIds(), tuning.models.forget),
        StudyTrials(studies, clock, tuning.models.prepare),
        Suggesting(studies, tuning.suggester, clock),
        EarlyStop(studies, tuning.stopping.reason, clock),
    )
