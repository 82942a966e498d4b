"""Thousands of searches, each with deaths between any two writes: every one comes to its right end.

Runs do as the seed says; the service dies whenever the seed says so.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest

from footplate.domain.job_states import State
from footplate.domain.lifecycle import TRANSITIONS
from footplate.domain.names import StudyUid
from footplate.domain.studies.records import StudyState
from footplate.domain.studies.stopping import HalvingSpec, MedianSpec
from footplate.domain.studies.study import Algorithm
from footplate.domain.studies.trials import TrialState
from tests.support.profiles import scaled
from tests.support.searches import make_search
from tests.support.tuning_rig import SearchRig

SEEDS = scaled(300)
STEPS = 60
REST = 400
ENDS = (State.SUCCEEDED,) * 8 + (State.FAILED, State.CANCELLED)


class Life:
    """Of one search, alone or among others that stand on the same ``rig``."""

    def __init__(
        self, seed: int, rig: SearchRig | None = None, job: str = "search", resumes: str = ""
    ) -> None:
        self.rng = random.Random(seed)  # noqa: S311 - a seed to live by
        self._rig = rig or SearchRig()
        self.counts = self.rng.randint(1, 8), self.rng.randint(1, 4)
        self.failed = self.rng.choice([0, 0, 1, min(2, self.counts[0])])
        self.cancelled = False
        self.resumes, self.behind = resumes, 0
        self.points: dict[int, object] = {}
        trials, parallel = self.counts
        search = make_search(
            trials=trials,
            parallel=parallel,
            failed=self.failed,
            algorithm=self.rng.choice([Algorithm.RANDOM, Algorithm.BAYESIAN]),
            stopping=self.rng.choice([None, MedianSpec(), HalvingSpec()]),
        )
        search = replace(search, resumes=resumes)
        self.job = self._rig.submit(search, f"projects/demo/jobs/{job}")

    @property
    def rig(self) -> SearchRig:
        """Whose job is this one."""
        self._rig.job = self.job
        return self._rig

    def live(self) -> None:
        things = [self.inspect, self.inspect, self.begin, self.report, self.end, self.end]
        for _ in range(STEPS):
            if self.rng.random() < 0.4:
                self.rig.crash_point.arm(self.rng.randrange(12))
            self.rng.choice([*things, *things, *things, self.die, self.cancel])()
            self.check()
        self.rest()

    def rest(self) -> None:
        """No more deaths; whatever runs comes to its end."""
        self.rig.crash_point.disarm()
        for _ in range(REST):
            self.rig.step()
            self.check()
            if self.rig.state_now().terminal and not self.rig.runs():
                return
            for number in list(self.rig.runs()):
                self.end_of(number)
        raise AssertionError("the search does not come to its end")

    def inspect(self) -> None:
        faults = self.rig.crash_point.crashes
        alive = self.rig.step() and self.rig.crash_point.crashes == faults
        if alive and self.rig.ending is not None:
            untold = [run.uid for run in self.rig.runs().values() if run.ending is None]
            assert not untold, "the job ends, and runs go on"

    def die(self) -> None:
        self.rig.be_reborn()

    def cancel(self) -> None:
        if self.rng.random() < 0.1:
            self.cancelled = True
            self.rig.cancel()

    def begin(self) -> None:
        for number, run in self.rig.runs().items():
            if run.start_time is None and run.ending is None:
                self.rig.begin(number)

    def report(self) -> None:
        for number, run in self.rig.runs().items():
            if run.start_time is not None:
                self.rig.clock.advance(1)
                self.rig.report(number, self.rng.random(), self.rng.randint(1, 5))

    def end(self) -> None:
        if runs := self.rig.runs():
            self.end_of(self.rng.choice(sorted(runs)))

    def end_of(self, number: int) -> None:
        """A run that was told to end is cancelled, or had just come to its end."""
        run = self.rig.runs()[number]
        if run.start_time is None and run.ending is None:
            self.rig.begin(number)
        stopped = run.ending is not None and self.rng.random() < 0.8
        state = State.CANCELLED if stopped else self.rng.choice(ENDS)
        if state is State.SUCCEEDED and run.start_time is not None and self.rng.random() < 0.9:
            self.rig.report(number, self.rng.random(), 9)
        self.rig.end(number, state, "" if state is State.SUCCEEDED else "why")

    def check(self) -> None:
        trials, parallel = self.counts
        kept = self.rig.trials()
        numbers = [trial.number for trial in kept]
        first = numbers[0] if numbers else self.behind + 1
        assert first > self.behind, "a trial has the number of one of the search that it resumes"
        assert numbers == list(range(first, first + len(kept))), "a trial was lost or renumbered"
        assert len(kept) <= trials
        assert len(self.rig.runs()) <= parallel
        assert sum(not trial.state.ended for trial in kept) <= parallel
        for trial in kept:
            assert self.points.setdefault(trial.number, trial.point) == trial.point
            if trial.outcome is State.CANCELLED and trial.state is TrialState.SUCCEEDED:
                assert trial.stopped_early
            if "before this trial started" in trial.infeasible_reason:
                assert self.rig.ending is not None, "it was never run"
        ends = sorted(trial.ended_as for trial in kept if trial.ended_as)
        assert ends == list(range(1, len(ends) + 1)), "two trials ended at once"
        assert set(self.rig.runs()) <= set(numbers), "a run without a trial"

    def check_end(self) -> None:
        rig, kept = self.rig, self.rig.trials()
        assert all(trial.state.ended for trial in kept)
        kinds = ("TRIAL_ENDED", "TRIAL_FAILED", "TRIAL_CANCELLED")
        told = Counter(message for kind in kinds for message in rig.told(kind))
        assert sorted(message.split(":")[0] for message in told.elements()) == sorted(
            f"trial {trial.number}" for trial in kept
        )
        well = sum(trial.state is TrialState.SUCCEEDED for trial in kept)
        if rig.state_now() is State.SUCCEEDED:
            assert well
            assert len(kept) == self.counts[0]
        elif rig.state_now() is State.CANCELLED:
            assert self.cancelled
        else:
            assert rig.ending is not None
            assert rig.ending.message
        if kept:
            assert rig.study.state is StudyState.COMPLETED
            assert rig.study.ended == len(kept)
        self.check_history()
        for trial in kept:
            replayed = rig.parts.suggester.replay(StudyUid(rig.job.uid), trial.number)
            assert replayed == trial.point

    def check_history(self) -> None:
        states = [
            State(each.event.kind)
            for each in self.rig.store.events(self.rig.job.uid)
            if each.event.kind in State.__members__
        ]
        for before, after in pairwise(states):
            assert after in TRANSITIONS[before]


@pytest.mark.parametrize("block", range(10))
def test_every_search_comes_to_its_right_end(block: int) -> None:
    for seed in range(block * SEEDS // 10, (block + 1) * SEEDS // 10):
        life = Life(seed)
        try:
            life.live()
            life.check_end()
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise


def test_searches_end_in_every_way_and_die_often() -> None:
    ends: Counter[State] = Counter()
    crashes = 0
    for seed in range(60):
        life = Life(seed)
        life.live()
        ends[life.rig.state_now()] += 1
        crashes += life.rig.crash_point.crashes
    assert set(ends) == {State.SUCCEEDED, State.FAILED, State.CANCELLED}
    assert crashes > 60
