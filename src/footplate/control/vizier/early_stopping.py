"""Decides whether a trial should stop early."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from footplate.control.tuning.early_stopping import EarlyStopping
from footplate.control.tuning.measurement_cache import MeasurementCache
from footplate.control.vizier.study_updates import change
from footplate.control.vizier.trials import find
from footplate.domain.names import StudyName, StudyUid
from footplate.domain.studies import transitions
from footplate.domain.studies.limit_checks import over
from footplate.domain.studies.measurement_input import curve
from footplate.domain.studies.metrics import Measurement
from footplate.domain.studies.records import TrialRecord
from footplate.domain.studies.transitions import Change
from footplate.domain.studies.trials import TrialState
from footplate.ports.clock import Clock
from footplate.ports.studies import StudyStore, StudyWithTrials


@dataclass(frozen=True)
class EarlyStop:
    """The question whether a trial should stop; ``stopping`` judges by the study's own rule."""

    store: StudyStore
    reported: MeasurementCache
    stopping: EarlyStopping
    clock: Clock

    def check(self, name: StudyName, number: int) -> bool:
        """Judges a trial; returns whether it should stop: it is then STOPPING or has ended.

        Raises NotFound, Aborted.
        """
        change(self.store, name, lambda kept: self._judge(kept, find(kept, number)))
        trial = find(self.store.find(name), number)
        return trial.state.ended or trial.state is TrialState.STOPPING

    def _judge(self, kept: StudyWithTrials, trial: TrialRecord) -> Change | None:
        if trial.state is not TrialState.ACTIVE:
            return None
        why = self._over(kept)
        if not why and kept.study.config.stopping is not None:
            why = self.stopping.reason(kept, trial, self._curves(kept.study.uid))
        return transitions.stop(kept.study, trial, why) if why else None

    def _over(self, kept: StudyWithTrials) -> str:
        """Returns why the study has ended, so that its trials should stop; '' if it hasn't."""
        study, limits = kept.study, kept.study.config.limits
        if limits is None or not limits.stop_asap:
            return ""
        now = self.clock.now()
        return study.why_inactive or over(
            limits, kept.trials, study.config.metrics, study.create_time, now
        )

    def _curves(self, uid: StudyUid) -> Mapping[int, tuple[Measurement, ...]]:
        by_trial = self.reported.by_trial(uid)
        return {number: curve(reports) for number, reports in by_trial.items()}
