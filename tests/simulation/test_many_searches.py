"""Searches side by side, whose service dies, whose database is away, and whose clock is set.

Each goes on from one that has ended before, as often as not, and those are deleted meanwhile.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from footplate.domain.errors import NotFound
from footplate.domain.names import StudyUid
from footplate.domain.studies.study_history import study_of
from tests.simulation.test_searches import Life
from tests.support.crashes import be_away, die
from tests.support.profiles import scaled
from tests.support.tuning_rig import SearchRig

SEEDS = scaled(60)
STEPS = 120
MOST = 3
HOUR_S = 3600.0


class World:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)  # noqa: S311 - a seed to live by
        self.rig = SearchRig(self.fail)
        self.happened: Counter[str] = Counter()
        self.made = 0
        self.lives: list[Life] = []
        self.ended: list[Life] = []

    def fail(self) -> None:
        fault = self.rng.choice([die, be_away])
        self.happened[fault.__name__] += 1
        fault()

    def live(self) -> None:
        for _ in range(STEPS):
            if self.rng.random() < 0.4:
                self.rig.crash_point.arm(self.rng.randrange(12))
            self.rng.choice([self.act] * 12 + [self.submit, self.jump, self.delete])()
            self.collect()
        self.rig.crash_point.disarm()
        for life in self.lives:
            life.rest()
        self.collect()
        assert self.lives == []
        assert self.rig.store.active() == ()

    def submit(self) -> None:
        if len(self.lives) >= MOST:
            return
        self.made += 1
        resumes, behind = "", 0
        if self.ended and self.rng.random() < 0.6:
            resumed = self.rng.choice(self.ended)
            resumes = str(resumed.job.name)
            behind = max((trial.number for trial in resumed.rig.trials()), default=0)
            self.happened["resumed"] += 1
        life = Life(self.rng.randrange(10**9), self.rig, f"search{self.made}", resumes)
        life.behind = behind
        self.lives.append(life)

    def act(self) -> None:
        if self.lives:
            life = self.rng.choice(self.lives)
            deeds = [life.inspect, life.inspect, life.begin, life.report, life.end, life.end]
            self.rng.choice([*deeds * 3, life.die, life.cancel])()
            life.check()

    def jump(self) -> None:
        """Somebody sets the clock, by up to an hour, back or forth."""
        self.rig.clock.jump(self.rng.uniform(-HOUR_S, HOUR_S))
        self.happened["jump"] += 1

    def delete(self) -> None:
        if self.ended:
            life = self.ended.pop(self.rng.randrange(len(self.ended)))
            life.rig.delete()
            for other in self.lives:  # one that had yet to look at it begins with trial 1
                if other.resumes == str(life.job.name) and not other.rig.trials():
                    other.behind = 0
            self.happened["delete"] += 1
            for gone in (self.rig.store.get_by_uid, self.load):
                with pytest.raises(NotFound):
                    gone(life.job.uid)

    def load(self, uid: str) -> object:
        return self.rig.store.studies.load(StudyUid(uid))

    def collect(self) -> None:
        """Those that have ended are as they should be."""
        for life in list(self.lives):
            if life.rig.state_now().terminal:
                assert not life.rig.runs()
                life.check_end()
                self.lives.remove(life)
                self.ended.append(life)


@pytest.mark.parametrize("block", range(6))
def test_every_search_among_others_comes_to_its_right_end(block: int) -> None:
    for seed in range(block * SEEDS // 6, (block + 1) * SEEDS // 6):
        world = World(seed)
        try:
            world.live()
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise


def test_everything_happens_to_them() -> None:
    happened: Counter[str] = Counter()
    for seed in range(20):
        world = World(seed)
        world.live()
        happened += world.happened
    assert happened.keys() >= {"die", "be_away", "jump", "delete", "resumed"}


def test_what_was_learned_outlives_its_source() -> None:
    rig = SearchRig()
    first = Life(1, rig, "first")
    first.rest()
    known = study_of(rig.study, rig.trials())
    then = Life(2, rig, "then", str(first.job.name))
    then.inspect()
    first.rig.delete()
    then.rest()

    assert then.rig.study.earlier[-1].trials == known.finished
    then.check_end()
