"""Creates the services of tuning jobs and studies."""

from __future__ import annotations

from collections.abc import Callable

from footplate.control.models import ModelRegistry
from footplate.control.pipelines import DataWriter, PipelineAdvance
from footplate.control.suggestions import Suggester
from footplate.control.suggestions.model_fitting import Models
from footplate.control.tuning.early_stopping import EarlyStopping
from footplate.control.tuning.measurement_cache import MeasurementCache
from footplate.control.tuning.measurements import MeasurementRecorder
from footplate.control.tuning.prior_studies import PriorStudies
from footplate.control.tuning.resumed_searches import SearchResolver
from footplate.control.tuning.step import TuningStep
from footplate.control.tuning.trial_jobs import TrialJobs
from footplate.control.tuning.trials import Trials
from footplate.control.tuning.tuner import Tuner
from footplate.control.vizier import EarlyStop, Studies, StudyTrials, Suggesting, Vizier
from footplate.domain.names import JobUid, StudyUid
from footplate.ports.clock import Clock
from footplate.ports.store import Store
from footplate.ports.studies import StudyStore
from footplate.server.machine import RandomIds


class TuningServices:
    """The parts for tuning that every server has, for its clients and, if it leads, its tuner."""

    def __init__(
        self, store: Store, studies: StudyStore, clock: Clock, told: Callable[[JobUid], None]
    ) -> None:
        """Creates the services.

        ``told`` is called with a tuning job that has new measurements.
        """
        self.models = Models(studies)
        self.suggester = Suggester(studies, self.models, clock)
        self.reported = MeasurementCache(studies)
        self.stopping = EarlyStopping(self.reported)
        self.trials = Trials(store, studies, self.reported)
        self.earlier = PriorStudies(store, studies)
        self.resolver = SearchResolver(store, self.earlier)
        self.measuring = MeasurementRecorder(store, studies, clock, told)
        self._clock = clock

    def make_vizier(self, studies: StudyStore) -> Vizier:
        """Returns the service for clients' studies, which uses the same parts as tuning jobs."""

        def forget(uid: StudyUid) -> None:
            self.models.forget(uid)
            self.reported.forget(uid)

        return Vizier(
            Studies(studies, self._clock, RandomIds(), forget),
            StudyTrials(studies, self._clock, self.models.prepare),
            Suggesting(studies, self.suggester, self._clock),
            EarlyStop(studies, self.reported, self.stopping, self._clock),
        )

    def make_tuner(
        self,
        store: Store,
        studies: StudyStore,
        registry: ModelRegistry,
        data: DataWriter,
        wake_jobs: Callable[[], None],
        wake: Callable[[], None],
    ) -> Tuner:
        """Returns a new tuner that writes to these stores and this registry, and ``data``.

        ``wake_jobs`` is called when jobs that run trials need work; ``wake`` when the tuner has
        work.
        """
        advance = TuningStep(
            store,
            studies,
            Suggester(studies, self.models, self._clock),
            TrialJobs(store, self._clock, wake_jobs),
            self.reported,
            EarlyStopping(self.reported),
            self.earlier,
            self._clock,
        )
        pipelines = PipelineAdvance(
            store,
            registry,
            data,
            Trials(store, studies, self.reported).trials,
            self._clock,
            wake_jobs,
        )
        return Tuner(store, advance, pipelines, self.models, self.reported, wake)
