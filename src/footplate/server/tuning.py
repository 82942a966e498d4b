"""The parts that tuning jobs and studies need, made and joined."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.control.pipelines import PipelineAdvance
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

    from footplate.control.models import ModelRegistry
    from footplate.domain.names import JobUid
    from footplate.ports.clock import Clock
    from footplate.ports.store import Store
    from footplate.ports.studies import StudyStore


class TuningParts:
    """What every server has: for its clients, and for the tuner of the one that leads."""

    def __init__(
        self, store: Store, studies: StudyStore, clock: Clock, told: Callable[[JobUid], None]
    ) -> None:
        """``told`` is called with a tuning job that has new measurements."""
        self.models = Models(studies)
        self.suggester = Suggester(studies, self.models, clock)
        self.reported = Reported(studies)
        self.stopping = EarlyStopping(self.reported)
        self.trials = Trials(store, studies)
        self.earlier = EarlierStudies(store, studies)
        self.resolver = SearchResolver(store, self.earlier)
        self.measuring = Measuring(store, studies, clock, told)
        self._clock = clock

    def make_tuner(
        self,
        store: Store,
        studies: StudyStore,
        registry: ModelRegistry,
        wake_jobs: Callable[[], None],
        wake: Callable[[], None],
    ) -> Tuner:
        """One that knows nothing yet, and writes to these stores and this registry.

        ``wake_jobs`` is called when jobs are to be looked at: those that run trials; ``wake`` when
        the tuner has something to do.
        """
        advance = Advance(
            store,
            studies,
            Suggester(studies, self.models, self._clock),
            Runs(store, self._clock, wake_jobs),
            self.reported,
            EarlyStopping(self.reported),
            self.earlier,
            self._clock,
        )
        pipelines = PipelineAdvance(store, registry, self._clock, wake_jobs)
        return Tuner(store, advance, pipelines, self.models, self.reported, wake)
