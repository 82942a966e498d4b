"""The scheduler decides as the plain rules do, whatever happens in whatever order."""

from __future__ import annotations

import copy
import math
from dataclasses import replace

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from footplate.domain.admission import Claim, Scheduler
from footplate.domain.names import JobUid
from footplate.domain.quotas import Quota, Quotas
from footplate.domain.resources import JOBS
from tests.support.profiles import scaled
from tests.unit.domain.admission.plain_scheduler import PlainRound, PlainScheduler, Span, needs

SITES = {
    "here": {"T4": 4, "V100": 2, "vcpus": 8},
    "there": {"T4": 3, "vcpus": 4},
    "reserved": {},
    "engine": {},
}
"""What is reserved, as for persistent resources, grows and shrinks; its jobs count no quota.
An engine queues by itself: nothing is held of it, and quotas count all the same."""
REGIONS = {
    "here": ("here-1", "here-2"),
    "there": ("there-1",),
    "reserved": ("here-1",),
    "engine": ("engine-1",),
}
LINES: dict[str, tuple[str, ...]] = {
    "": (),
    "T4": ("T4",),
    "V100": ("V100",),
    "T4+V100": ("T4", "V100"),
}
TIMEOUT_S = 25.0

amounts = st.integers(0, 5)


def unnamed_claim(
    site: str,
    region: int,
    line: str,
    size: int,
    vcpus: int,
    project: str,
    priority: int,
    longest_s: float,
    bounded: bool,  # noqa: FBT001
) -> Claim:
    asked = {**dict.fromkeys(LINES[line], size), "vcpus": vcpus}
    return Claim(
        uid=JobUid(""),
        name="",
        project=project,
        region=REGIONS[site][region % len(REGIONS[site])],
        site=site,
        accelerator=line,
        priority=priority,
        arrived=0.0,
        longest_s=longest_s,
        holds={} if site == "engine" else asked,
        counts={} if site == "reserved" else {**asked, JOBS: 1},
        bounded=bounded,
    )


claims = st.builds(
    unnamed_claim,
    site=st.sampled_from(["here", "here", "here", "there", "there", "reserved", "engine"]),
    region=st.integers(0, 1),
    line=st.sampled_from(list(LINES)),
    size=st.sampled_from([1, 1, 1, 2, 2, 3, 5]),
    vcpus=st.sampled_from([0, 1, 1, 2, 4, 8, 9]),
    project=st.sampled_from(["ads", "maps", "music"]),
    priority=st.sampled_from([0, 0, 0, 0, 7]),
    longest_s=st.sampled_from([1.0, 5.0, 10.0, 30.0, 100.0, math.inf]),
    bounded=st.sampled_from([True, True, True, False]),
)
quotas = st.lists(
    st.builds(
        Quota,
        project=st.sampled_from(["*", "ads", "maps"]),
        region=st.sampled_from(["*", "here-1", "engine-1"]),
        limits=st.dictionaries(st.sampled_from(["T4", "vcpus", JOBS]), amounts, max_size=2),
    ),
    max_size=3,
).map(lambda found: Quotas(tuple(found)))


class SchedulerMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0
        self.count = 0
        self.scheduler = Scheduler(SITES, Quotas(), TIMEOUT_S)
        self.plain = PlainScheduler({**SITES}, Quotas(), TIMEOUT_S)

    def named(self, claim: Claim, age: float) -> Claim:
        self.count += 1
        uid = JobUid(f"job{self.count}")
        return replace(claim, uid=uid, name=str(uid), arrived=self.now - age)

    @rule(claim=claims, age=st.sampled_from([0.0, 0.0, 0.0, 3.0, 26.0]))
    def arrives(self, claim: Claim, age: float) -> None:
        claim = self.named(claim, age)
        self.scheduler.wait(claim)
        self.plain.waiting[claim.uid] = claim

    @rule(claim=claims, ago=st.sampled_from([0.0, 4.0, 50.0]))
    def is_found_to_hold(self, claim: Claim, ago: float) -> None:
        claim = self.named(claim, ago)
        self.scheduler.hold(claim, self.now - ago)
        begin = self.now - ago
        self.plain.holding[claim.uid] = Span(claim, begin, begin + claim.longest_s)

    @precondition(lambda self: self.plain.waiting or self.plain.holding)
    @rule(data=st.data())
    def leaves(self, data: st.DataObject) -> None:
        uid = data.draw(st.sampled_from([*self.plain.waiting, *self.plain.holding]))
        self.leave(uid)

    def leave(self, uid: JobUid) -> None:
        self.scheduler.leave(uid)
        self.plain.holding.pop(uid, None)
        self.plain.waiting.pop(uid, None)

    @rule(found=quotas)
    def quotas_are_set(self, found: Quotas) -> None:
        self.scheduler.set_quotas(found)
        self.plain.quotas = found

    @rule(t4=amounts, vcpus=amounts)
    def machines_are_reserved(self, t4: int, vcpus: int) -> None:
        capacity = {"T4": t4, "vcpus": vcpus}
        self.scheduler.set_capacity("reserved", capacity)
        self.plain.capacity["reserved"] = capacity

    @rule(seconds=st.sampled_from([1.0, 6.0, 26.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule()
    def those_whose_time_is_up_end(self) -> None:
        for uid in [uid for uid, span in self.plain.holding.items() if span.end <= self.now]:
            self.leave(uid)

    @rule()
    def admits(self) -> None:
        expected = {site: self.plain.admit(site, self.now) for site in SITES}
        started = self.scheduler.admit(self.now)
        for site in SITES:
            here = [uid for uid in started if self.plain.holding[uid].claim.site == site]
            assert here == expected[site]

    @precondition(lambda self: self.plain.waiting)
    @rule(data=st.data(), other=claims)
    def another_claim_is_tried(self, data: st.DataObject, other: Claim) -> None:
        mine = data.draw(st.sampled_from(list(self.plain.waiting.values())))
        claim = replace(other, uid=mine.uid, name=mine.name, arrived=mine.arrived)
        plain = copy.deepcopy(self.plain)
        del plain.waiting[mine.uid]
        plain.waiting[claim.uid] = claim
        expected = claim.uid in plain.admit(claim.site, self.now)
        assert self.scheduler.would_start(claim, self.now) == expected

    @invariant()
    def those_wait_who_do(self) -> None:
        assert self.scheduler.waiting() == frozenset(self.plain.waiting)

    @invariant()
    def places_are_by_priority_and_arrival(self) -> None:
        lines: dict[tuple[str, str], list[Claim]] = {}
        for claim in self.plain.waiting.values():
            lines.setdefault((claim.site, claim.accelerator), []).append(claim)
        for line in lines.values():
            line.sort(key=lambda claim: (-claim.priority, claim.arrived, claim.uid))
            assert [self.scheduler.place(claim.uid) for claim in line] == [*range(1, len(line) + 1)]

    @invariant()
    def what_is_held_is_known(self) -> None:
        for region in ("here-1", "here-2", "there-1"):
            held = [
                needs(span.claim).get(("ads", region, "T4"), 0)
                for span in self.plain.holding.values()
            ]
            assert self.scheduler.held("ads", region).get("T4", 0) == sum(held)

    @invariant()
    def each_that_waits_is_explained_and_no_other(self) -> None:
        promised = self.promised()
        for uid in self.plain.waiting:
            explanation = self.scheduler.explain(uid, self.now)
            assert explanation is not None
            if explanation.starts_by is not None:
                assert explanation.starts_by == promised[uid]
        for uid in self.plain.holding:
            assert self.scheduler.explain(uid, self.now) is None

    def promised(self) -> dict[JobUid, float]:
        """The moments that the plain rules promise."""
        plain = copy.deepcopy(self.plain)
        found: dict[JobUid, float] = {}
        for site in SITES:
            plain.admit(site, self.now)
            last = PlainRound(plain, site, self.now)
            last.run()
            found |= {span.claim.uid: span.begin for span in last.promised.values()}
        return found


SchedulerMachine.TestCase.settings = settings(
    max_examples=scaled(60),
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestScheduler = SchedulerMachine.TestCase
