"""Which running trials are to stop before their time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from footplate.control.suggesting import engine
from footplate.domain.studies.trials import TrialState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from footplate.control.searches.reported import Reported
    from footplate.domain.studies.metrics import Measurement
    from footplate.domain.studies.records import TrialRecord
    from footplate.domain.studies.trials import Trial
    from footplate.ports.studies import KeptStudy


class EarlyStopping:
    def __init__(self, reported: Reported) -> None:
        self._reported = reported

    def judge(self, kept: KeptStudy) -> list[TrialRecord]:
        """The trials that are told to stop now, with the reason."""
        if kept.study.config.stopping is None:
            return []
        running = [trial for trial in kept.trials if trial.state is TrialState.ACTIVE]
        if not running:
            return []
        curves = self._reported.curves(kept.study.uid, kept.study.config.metrics)
        return [
            replace(trial, state=TrialState.STOPPING, stop_reason=reason)
            for trial in running
            if (reason := self.reason(kept, trial, curves))
        ]

    def reason(
        self,
        kept: KeptStudy,
        trial: TrialRecord,
        curves: Mapping[int, tuple[Measurement, ...]],
    ) -> str:
        """Why the trial is to stop, of all that is known; empty: it goes on."""
        rule = engine.load().stopping_rule(kept.study.config)
        if rule is None or not curves.get(trial.number):
            return ""
        others = [_seen(other, curves) for other in kept.trials if other.number != trial.number]
        return rule.reason_to_stop(_seen(trial, curves), others)


def _seen(trial: TrialRecord, curves: Mapping[int, tuple[Measurement, ...]]) -> Trial:
    return trial.trial(curves.get(trial.number, ()))
