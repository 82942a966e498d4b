"""Decides which running trials stop early."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace

from footplate.control.suggestions import tuner_loader
from footplate.control.tuning.measurement_cache import MeasurementCache
from footplate.domain.names import StudyUid
from footplate.domain.studies.metrics import Measurement
from footplate.domain.studies.records import TrialRecord
from footplate.domain.studies.trials import Trial, TrialState
from footplate.ports.studies import StudyWithTrials

Curve = tuple[Measurement, ...]

_STUDIES = 64
"""The studies of which it is known who goes on; the others are judged once more."""


class EarlyStopping:
    """Decides which trials stop early.

    A trial is judged only after it has reported something, not after every change: with hundreds of
    curves a judgement takes tens of milliseconds.
    """

    def __init__(self, reported: MeasurementCache) -> None:
        self._reported = reported
        self._going_on: OrderedDict[StudyUid, dict[int, Curve]] = OrderedDict()

    def judge(self, kept: StudyWithTrials) -> list[TrialRecord]:
        """Returns the trials that should stop now, with reasons."""
        if kept.study.config.stopping is None:
            return []
        running = [trial for trial in kept.trials if trial.state is TrialState.ACTIVE]
        if not running:
            return []
        uid = kept.study.uid
        curves = self._reported.curves(uid, kept.study.config.metrics)
        before = self._going_on.pop(uid, {})
        now: dict[int, Curve] = {}
        self._going_on[uid] = now
        if len(self._going_on) > _STUDIES:
            self._going_on.popitem(last=False)
        stopped: list[TrialRecord] = []
        for trial in running:
            own = curves.get(trial.number, ())
            reason = "" if own is before.get(trial.number) else self.reason(kept, trial, curves)
            if reason:
                stopped.append(replace(trial, state=TrialState.STOPPING, stop_reason=reason))
            else:
                now[trial.number] = own
        return stopped

    def reason(
        self,
        kept: StudyWithTrials,
        trial: TrialRecord,
        curves: Mapping[int, tuple[Measurement, ...]],
    ) -> str:
        """Returns why the trial should stop; '' if it continues."""
        rule = tuner_loader.load().stopping_rule(kept.study.config)
        if rule is None or not curves.get(trial.number):
            return ""
        others = [_seen(other, curves) for other in kept.trials if other.number != trial.number]
        return rule.reason_to_stop(_seen(trial, curves), others)


def _seen(trial: TrialRecord, curves: Mapping[int, tuple[Measurement, ...]]) -> Trial:
    return trial.trial(curves.get(trial.number, ()))
