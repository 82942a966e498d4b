"""What holds for whole histories, in which each job runs as long as it may, or less."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from footplate.domain.admission import Claim, Scheduler
from footplate.domain.names import JobUid
from footplate.domain.quotas import Quota, Quotas
from footplate.domain.resources import JOBS, VCPUS
from tests.support.profiles import scaled
from tests.unit.domain.admission.claims import T4, V100, a_claim

CAPACITY = {"this machine": {T4: 4, V100: 2, VCPUS: 8}}
QUOTAS = Quotas((Quota("ads", "*", {T4: 3}), Quota("*", "*", {JOBS: 5})))
TIMEOUT_S = 50.0


@dataclass(frozen=True)
class Coming:
    claim: Claim
    early_s: float
    """By how much it ends before its limit."""


def comings(projects: list[str], lines: list[str], *, early: bool) -> st.SearchStrategy[Coming]:
    def make(line: str, size: int, vcpus: int, project: str, arrived: int, longest: int) -> Coming:
        held = {VCPUS: vcpus, **({line: min(size, CAPACITY["this machine"][line])} if line else {})}
        claim = a_claim(
            "", holds=held, line=line, project=project, arrived=arrived, longest_s=longest
        )
        return Coming(claim, arrived % longest if early else 0.0)

    return st.builds(
        make,
        st.sampled_from(lines),
        st.integers(1, 3),
        st.integers(1, 8),
        st.sampled_from(projects),
        st.integers(0, 60),
        st.integers(1, 40),
    )


def named(found: list[Coming]) -> list[Coming]:
    found = sorted(found, key=lambda coming: coming.claim.arrived)
    return [
        replace(coming, claim=replace(coming.claim, uid=JobUid(f"{i:03}"), name=f"{i:03}"))
        for i, coming in enumerate(found)
    ]


class History:
    def __init__(self, comings: list[Coming], quotas: Quotas) -> None:
        self.scheduler = Scheduler(CAPACITY, quotas, TIMEOUT_S)
        self.now = 0.0
        self.coming = list(reversed(comings))
        self.known = {coming.claim.uid: coming for coming in comings}
        self.ends: list[tuple[float, JobUid]] = []
        self.started: dict[JobUid, float] = {}

    def step(self) -> bool:
        """To the next moment at which something happens; whether there was one."""
        moments = [self.coming[-1].claim.arrived] if self.coming else []
        moments += [self.ends[0][0]] if self.ends else []
        if not moments:
            return False
        self.now = min(moments)
        while self.ends and self.ends[0][0] <= self.now:
            self.scheduler.leave(heapq.heappop(self.ends)[1])
        while self.coming and self.coming[-1].claim.arrived <= self.now:
            self.scheduler.wait(self.coming.pop().claim)
        for uid in self.scheduler.admit(self.now):
            coming = self.known[uid]
            self.started[uid] = self.now
            end = self.now + coming.claim.longest_s - coming.early_s
            heapq.heappush(self.ends, (end, uid))
        return True


@given(st.lists(comings(["ads", "maps", "music"], ["", T4, V100], early=True), max_size=30))
@settings(max_examples=scaled(200), deadline=None)
def test_every_job_starts_within_a_bound(found: list[Coming]) -> None:
    found = [c for c in found if not (c.claim.project == "ads" and c.claim.holds.get(T4, 0) > 3)]
    history = History(named(found), QUOTAS)
    while history.step():
        pass
    assert history.started.keys() == history.known.keys()
    longest = sum(coming.claim.longest_s for coming in found)
    for uid, moment in history.started.items():
        # Once it is the oldest that has lost patience, it waits at most for all to end once.
        assert moment <= history.known[uid].claim.arrived + TIMEOUT_S + longest


@given(st.lists(comings(["ads"], [T4], early=True), max_size=30))
@settings(max_examples=scaled(200), deadline=None)
def test_nobody_starts_later_than_promised(found: list[Coming]) -> None:
    history = History(named(found), Quotas())
    promises: dict[JobUid, float] = {}
    while history.step():
        for uid in history.scheduler.waiting():
            explanation = history.scheduler.explain(uid, history.now)
            assert explanation is not None
            if explanation.starts_by is not None:
                assert explanation.starts_by <= promises.get(uid, explanation.starts_by)
                promises[uid] = explanation.starts_by
    assert all(history.started[uid] <= moment for uid, moment in promises.items())


@given(st.lists(comings(["ads", "maps"], ["", T4, V100], early=True), max_size=25))
@settings(max_examples=scaled(100), deadline=None)
def test_the_same_history_goes_the_same_way(found: list[Coming]) -> None:
    first, second = History(named(found), QUOTAS), History(named(found), QUOTAS)
    while first.step():
        for uid in first.scheduler.waiting():
            first.scheduler.explain(uid, first.now)
    while second.step():
        pass
    assert list(first.started.items()) == list(second.started.items())


@given(
    st.lists(comings(["ads", "maps"], ["", T4, V100], early=False), max_size=25),
    st.integers(0, 24),
    st.randoms(use_true_random=False),
)
@settings(max_examples=scaled(100), deadline=None)
def test_a_scheduler_made_anew_decides_as_the_old_one(
    found: list[Coming], steps: int, random: Random
) -> None:
    history = History(named(found), QUOTAS)
    for _ in range(steps):
        history.step()
    anew = Scheduler(CAPACITY, QUOTAS, TIMEOUT_S)
    waiting = history.scheduler.waiting()
    holding = [uid for _, uid in history.ends]
    for uid in random.sample(holding, len(holding)):
        anew.hold(history.known[uid].claim, history.started[uid])
    for uid in random.sample(sorted(waiting), len(waiting)):
        anew.wait(history.known[uid].claim)
    assert anew.admit(history.now) == history.scheduler.admit(history.now)
    end = min(history.ends, default=None)
    if end is not None:
        history.scheduler.leave(end[1])
        anew.leave(end[1])
        assert anew.admit(end[0]) == history.scheduler.admit(end[0])
