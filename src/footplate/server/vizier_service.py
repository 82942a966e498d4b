"""Creates the Vizier service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.control.vizier import EarlyStop, Studies, StudyTrials, Suggesting, Vizier
from footplate.server.machine import RandomIds

if TYPE_CHECKING:
    from footplate.domain.names import StudyUid
    from footplate.ports.clock import Clock
    from footplate.ports.studies import StudyStore
    from footplate.server.tuning_services import TuningServices


def make_vizier(studies: StudyStore, tuning: TuningServices, clock: Clock) -> Vizier:
    """It suggests and stops with the very parts that tuning jobs use."""

    def forget(uid: StudyUid) -> None:
        tuning.models.forget(uid)
        tuning.reported.forget(uid)

    return Vizier(
        Studies(studies, clock, RandomIds(), forget),
        StudyTrials(studies, clock, tuning.models.prepare),
        Suggesting(studies, tuning.suggester, clock),
        EarlyStop(studies, tuning.reported, tuning.stopping.reason, clock),
    )
