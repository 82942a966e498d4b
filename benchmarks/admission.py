"""Admission on a full farm: a job ends, another one comes, and those start that now may.

10,000 machines in 16 regions, as capacities, and queues of growing length; beside it a scheduler
as one writes it first, which sorts the whole queue at each event, and starts what fits. It knows
no fair share, no quota and no reservation, so it has less to do for each job that it looks at.
"""

from __future__ import annotations

import heapq
import random
import statistics
import sys
import time
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Protocol

from footplate.domain.admission import Claim
from footplate.domain.admission import Scheduler as Footplate
from footplate.domain.names import JobUid
from footplate.domain.quotas import Quota, Quotas
from footplate.domain.resources import JOBS, MEMORY_MB, VCPUS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

QUEUES = (1_000, 10_000, 100_000)
EVENTS = 10_000
PLAIN_S = 5.0
"""How long the plain scheduler is watched at most."""
HOUR = 3600.0
WEEK = 7 * 24 * HOUR

REGIONS = tuple(f"region-{number}" for number in range(1, 17))
T4, P100, V100 = "NVIDIA_TESLA_T4", "NVIDIA_TESLA_P100", "NVIDIA_TESLA_V100"
MACHINES = (
    # accelerator, how many of it, vCPUs, memory in GB, machines in each region, part of the jobs
    ("", 0, 16, 60, 225, 0.35),
    (T4, 1, 16, 60, 150, 0.25),
    (T4, 4, 32, 120, 100, 0.15),
    (P100, 2, 32, 208, 50, 0.05),
    (V100, 4, 32, 120, 50, 0.10),
    (V100, 8, 96, 360, 50, 0.10),
)
GANGS = ((1, 0.60), (2, 0.12), (4, 0.10), (8, 0.10), (16, 0.05), (32, 0.02), (48, 0.01))
PRIORITIES = ((0, 0.85), (100, 0.10), (500, 0.05))
LIMITS = ((WEEK, 0.70), (24 * HOUR, 0.10), (12 * HOUR, 0.05), (4 * HOUR, 0.10), (HOUR, 0.05))
PROJECTS = tuple((f"project-{number}", 1 / number) for number in range(1, 41))
QUOTAS = Quotas((Quota("*", "*", {V100: 240, JOBS: 120}),))


def farm() -> dict[str, dict[str, int]]:
    capacity = {VCPUS: 0, MEMORY_MB: 0, T4: 0, P100: 0, V100: 0}
    for accelerator, number, vcpus, memory_gb, machines, _ in MACHINES:
        capacity[VCPUS] += machines * vcpus
        capacity[MEMORY_MB] += machines * memory_gb * 1024
        if accelerator:
            capacity[accelerator] += machines * number
    return {region: dict(capacity) for region in REGIONS}


class Jobs:
    """The same endless stream of claims for the same seed, and how long each really runs."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311
        self._numbers = count(1)

    def next(self, arrived: float) -> Claim:
        accelerator, number, vcpus, memory_gb, _, _ = self._pick(
            [(machine, machine[-1]) for machine in MACHINES]
        )
        replicas = self._pick(GANGS)
        holds = {VCPUS: vcpus * replicas, MEMORY_MB: memory_gb * 1024 * replicas}
        if accelerator:
            holds[accelerator] = number * replicas
        counts = {name: n for name, n in holds.items() if name != MEMORY_MB}
        uid = JobUid(f"job-{next(self._numbers):07}")
        region, limit_s = self._random.choice(REGIONS), self._pick(LIMITS)
        return Claim(
            uid=uid,
            name=uid,
            project=self._pick(PROJECTS),
            region=region,
            site=region,
            accelerator=accelerator,
            priority=self._pick(PRIORITIES),
            arrived=arrived,
            longest_s=limit_s,
            holds=holds,
            counts={**counts, JOBS: 1},
            bounded=limit_s < WEEK,
        )

    def runs_s(self, claim: Claim) -> float:
        return min(self._random.expovariate(1 / (3 * HOUR)), claim.longest_s)

    def _pick(self, choices):
        values, weights = zip(*choices, strict=True)
        return self._random.choices(values, weights)[0]


class Scheduler(Protocol):
    def wait(self, claim: Claim) -> None: ...
    def leave(self, uid: JobUid) -> None: ...
    def admit(self, now: float) -> Iterable[JobUid]: ...


class Plain:
    """Sorts everything and tries everything."""

    def __init__(self, capacity: dict[str, dict[str, int]]) -> None:
        self._free = {site: dict(amounts) for site, amounts in capacity.items()}
        self._waiting: dict[JobUid, Claim] = {}
        self._holding: dict[JobUid, Claim] = {}

    def wait(self, claim: Claim) -> None:
        self._waiting[claim.uid] = claim

    def leave(self, uid: JobUid) -> None:
        claim = self._holding.pop(uid)
        free = self._free[claim.site]
        for name, amount in claim.holds.items():
            free[name] += amount

    def admit(self, now: float) -> list[JobUid]:  # noqa: ARG002
        started = []
        for claim in sorted(self._waiting.values(), key=lambda c: (-c.priority, c.arrived)):
            free = self._free[claim.site]
            if all(free[name] >= amount for name, amount in claim.holds.items()):
                for name, amount in claim.holds.items():
                    free[name] -= amount
                started.append(claim.uid)
        for uid in started:
            self._holding[uid] = self._waiting.pop(uid)
        return started


@dataclass
class Seen:
    """``events``: CPU seconds that the scheduler took for each end, with the arrival after it."""

    fill_s: float
    events: list[float]
    started: int
    came: int

    @property
    def per_s(self) -> float:
        """Decisions: for each that comes whether it starts or waits, for each that waits when."""
        return (self.started + self.came) / sum(self.events)


def watch(scheduler: Scheduler, queue: int, events: int, most_s: float) -> Seen:
    """Fill the farm and the queue, then let jobs end and come, as many as end."""
    jobs, now = Jobs(seed=queue), 0.0
    claims: dict[JobUid, Claim] = {}
    ends: list[tuple[float, JobUid]] = []

    def come(claim: Claim) -> None:
        claims[claim.uid] = claim
        scheduler.wait(claim)

    def start(uids: Iterable[JobUid]) -> int:
        found = tuple(uids)
        for uid in found:
            heapq.heappush(ends, (now + jobs.runs_s(claims.pop(uid)), uid))
        return len(found)

    started_at = time.process_time()
    while len(claims) < queue:
        for _ in range(queue - len(claims)):
            now += 8 * HOUR / queue / 2
            come(jobs.next(now))
        start(scheduler.admit(now))
    fill_s = time.process_time() - started_at

    spent, started, came = [], 0, 0
    for _ in range(events):
        now, uid = heapq.heappop(ends)
        coming = [jobs.next(now) for _ in range(max(0, queue - len(claims)))]
        came += len(coming)
        begin = time.process_time()
        scheduler.leave(uid)
        for claim in coming:
            come(claim)
        found = scheduler.admit(now)
        spent.append(time.process_time() - begin)
        started += start(found)
        if sum(spent) > most_s:
            break
    return Seen(fill_s, spent, started, came)


def percentile(values: list[float], part: float) -> float:
    return sorted(values)[int(part * (len(values) - 1))]


def rows(events: int) -> Iterator[str]:
    for queue in QUEUES:
        ours = watch(Footplate(farm(), QUOTAS), queue, events, most_s=60.0)
        plain = watch(Plain(farm()), queue, events, PLAIN_S)
        yield (
            f"{queue:8,} {ours.per_s:11,.0f} {statistics.median(ours.events) * 1e6:9.0f} us"
            f" {percentile(ours.events, 0.99) * 1e6:9.0f} us {plain.per_s:11,.1f}"
            f" {ours.per_s / plain.per_s:8,.0f} {ours.fill_s:8.2f} s"
        )


def main() -> None:
    events = int(sys.argv[1]) if len(sys.argv) > 1 else EVENTS
    print(
        f"{'queued':>8} {'decided/s':>11} {'event p50':>12} {'event p99':>12} {'plain/s':>11}"
        f" {'ratio':>8} {'fill':>10}"
    )
    for row in rows(events):
        print(row, flush=True)


if __name__ == "__main__":
    main()
