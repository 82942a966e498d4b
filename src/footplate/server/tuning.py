"""The parts that tuning jobs and studies need, made and joined."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.control.loop import Loop
from footplate.control.searches.advance import Advance
from footplate.control.searches.earlier import EarlierStudies
from footplate.control.searches.measuring import Measuring
from footplate.control.searches.reported import Reported
from footplate.control.searches.resolving import SearchResolver
from footplate.control.searches.runs import Runs
from footplate.control.searches.stopping import EarlyStopping
from footplate.control.searches.trials import Trials
from footplate.control.searches.tuner import Tuner
from footplate.control.suggesting import Suggester
from footplate.control.suggesting.models import Models

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.ports.clock import Clock
    from footplate.ports.store import Store
    from footplate.ports.studies import StudyStore


class TuningParts:
    """``tuner`` is told of every write to a job."""

    def __init__(
        self, store: Store, studies: StudyStore, clock: Clock, wake: Callable[[], None]
    ) -> None:
        """``wake`` is called when jobs are to be looked at: those that run trials."""
        self.models = Models(studies)
        self.suggester = Suggester(studies, self.models, clock)
        self.reported = Reported(studies)
        self.stopping = EarlyStopping(self.reported)
        self.trials = Trials(store, studies)
        earlier = EarlierStudies(store, studies)
        self.resolver = SearchResolver(store, earlier)
        advance = Advance(
            store,
            studies,
            self.suggester,
            Runs(store, clock, wake),
            self.reported,
            self.stopping,
            earlier,
            clock,
        )
        self.tuner = Tuner(store, advance, self.models, self.reported, self._wake)
        self._loop = Loop(self.tuner.step, "tuning")
        self.measuring = Measuring(store, studies, clock, self.tuner.changed)

    def _wake(self) -> None:
        self._loop.wake()

    def start(self) -> None:
        self._loop.start()

    def close(self) -> None:
        """Models first: what waits for one of them doesn't hold up the end."""
        self.models.close()
        self._loop.close()
