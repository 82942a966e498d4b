"""Who is judged, and when: each trial once for what it has reported."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from footplate.control.tuning.early_stopping import EarlyStopping
from footplate.control.tuning.measurement_cache import MeasurementCache
from footplate.domain.names import StudyUid
from footplate.domain.studies.metrics import Measurement
from footplate.domain.studies.records import TrialRecord
from footplate.domain.studies.stopping import MedianSpec
from footplate.domain.studies.study import Algorithm
from footplate.domain.studies.trials import TrialState
from footplate.ports.studies import StudyWithTrials
from tests.support.searches import RMSE, make_search
from tests.support.tuning_rig import SearchRig

ENDED = 5


@pytest.fixture
def rig() -> SearchRig:
    """Five trials have ended well, and two run."""
    rig = SearchRig()
    search = make_search(
        trials=ENDED + 2, parallel=2, algorithm=Algorithm.RANDOM, stopping=MedianSpec()
    )
    rig.submit(search)
    rig.settle()
    for number in range(1, ENDED + 1):
        rig.finish(number, 1.0)
    rig.begin(ENDED + 1)
    rig.begin(ENDED + 2)
    rig.settle()
    return rig


class Watched(EarlyStopping):
    """Knows who was judged."""

    def __init__(self, rig: SearchRig) -> None:
        super().__init__(MeasurementCache(rig.store.studies))
        self.judged: list[int] = []

    def reason(
        self,
        kept: StudyWithTrials,
        trial: TrialRecord,
        curves: Mapping[int, tuple[Measurement, ...]],
    ) -> str:
        self.judged.append(trial.number)
        return super().reason(kept, trial, curves)


def study(rig: SearchRig) -> StudyWithTrials:
    return rig.store.studies.load(StudyUid(rig.job.uid))


def test_a_trial_is_judged_once_for_each_report(rig: SearchRig) -> None:
    stopping = Watched(rig)
    assert stopping.judge(study(rig)) == []
    stopping.judged.clear()

    for step in (1, 2):
        rig.report(ENDED + 1, 0.5, step)
        assert stopping.judge(study(rig)) == []
        assert stopping.judge(study(rig)) == []

    assert stopping.judged == [ENDED + 1] * 2


def test_one_that_is_to_stop_is_told_until_that_is_kept(rig: SearchRig) -> None:
    """The server that was to write it down may have been too late, or had no disk."""
    stopping = Watched(rig)
    rig.report(ENDED + 2, 9.0)

    for _ in range(3):
        (stopped,) = stopping.judge(study(rig))
        assert stopped.number == ENDED + 2
        assert stopped.state is TrialState.STOPPING
        assert stopped.stop_reason


def test_curves_of_trials_that_said_nothing_are_not_made_again(rig: SearchRig) -> None:
    reported, uid = MeasurementCache(rig.store.studies), StudyUid(rig.job.uid)
    before = reported.curves(uid, [RMSE])
    rig.report(ENDED + 1, 0.5)
    after = reported.curves(uid, [RMSE])

    assert all(after[number] is before[number] for number in before)
    assert [point.values for point in after[ENDED + 1]] == [{"rmse": 0.5}]
    rig.report(ENDED + 1, 0.25, 2)
    assert len(reported.curves(uid, [RMSE])[ENDED + 1]) == 2
