"""Random histories in which the scheduler must decide as the plain rules do.

``python -m tests.unit.domain.admission.random_histories FIRST COUNT`` compares so many of them.
"""

from __future__ import annotations

import random
import sys
from typing import TYPE_CHECKING

from footplate.domain.admission import Claim, Scheduler
from footplate.domain.names import JobUid
from footplate.domain.quotas import Quota, Quotas
from footplate.domain.resources import JOBS, VCPUS
from tests.unit.domain.admission.plain_scheduler import PlainScheduler

if TYPE_CHECKING:
    from footplate.domain.resources import Amounts

SITE, REGION, TIMEOUT_S = "site", "region", 3600.0
CAPACITY: Amounts = {VCPUS: 64, "T4": 8, "V100": 4}
QUOTAS = Quotas((Quota("a", "*", {"T4": 4, JOBS: 6}),))


class History:
    """``hostile``: jobs also outlive their time, quotas change, and the site shrinks and grows."""

    def __init__(self, seed: int, *, hostile: bool) -> None:
        self.random = random.Random(seed)  # noqa: S311
        self.hostile = hostile
        self.now = 0.0
        self.plain = PlainScheduler({SITE: CAPACITY}, QUOTAS, TIMEOUT_S)
        self.scheduler = Scheduler({SITE: CAPACITY}, QUOTAS, TIMEOUT_S)

    def difference(self, steps: int) -> str | None:
        """The first step after which the two start different jobs; None: there is none."""
        for number in range(steps):
            self.step(number)
            expected = self.plain.admit(SITE, self.now)
            started = list(self.scheduler.admit(self.now))
            if expected != started:
                return f"step {number}: the plain rules start {expected}, not {started}"
        return None

    def step(self, number: int) -> None:
        self.now += self.random.choice([0, 60, 900])
        for uid in [u for u, span in self.plain.holding.items() if span.end <= self.now]:
            if not self.hostile or self.random.random() < 0.5:
                self.leave(uid)
        if self.hostile and self.random.random() < 0.1:
            self.set_limits()
        if self.random.random() < 0.6:
            claim = self.claim(number)
            self.plain.waiting[claim.uid] = claim
            self.scheduler.wait(claim)
        elif self.plain.holding:
            self.leave(self.random.choice(sorted(self.plain.holding)))

    def claim(self, number: int) -> Claim:
        accelerator, count = self.random.choice(["", "T4", "V100"]), self.random.choice([1, 2, 4])
        holds = {VCPUS: self.random.choice([4, 8]) * count}
        if accelerator:
            holds[accelerator] = count
        project, priority = self.random.choice("abc"), self.random.choice([0, 0, 5])
        uid = JobUid(f"j{number}")
        return Claim(
            uid=uid,
            name=uid,
            project=project,
            region=REGION,
            site=SITE,
            accelerator=accelerator,
            priority=priority,
            arrived=self.now,
            longest_s=self.random.choice([600.0, 3600.0, 7200.0]),
            holds=holds,
            counts={**holds, JOBS: 1},
        )

    def leave(self, uid: JobUid) -> None:
        del self.plain.holding[uid]
        self.scheduler.leave(uid)

    def set_limits(self) -> None:
        """Other quotas, or another capacity, for which the scheduler is made anew."""
        if self.random.random() < 0.5:
            of = self.random.choice([*"abc", "*"])
            limits = {"T4": self.random.randint(0, 8), JOBS: self.random.randint(0, 9)}
            self.plain.quotas = Quotas((Quota(of, "*", limits),))
            self.scheduler.set_quotas(self.plain.quotas)
            return
        part = self.random.choice([0.25, 0.5, 1.0])
        self.plain.capacity = {SITE: {name: int(n * part) for name, n in CAPACITY.items()}}
        self.scheduler = Scheduler(self.plain.capacity, self.plain.quotas, TIMEOUT_S)
        for span in self.plain.holding.values():
            self.scheduler.hold(span.claim, span.begin)
        for claim in self.plain.waiting.values():
            self.scheduler.wait(claim)


def main() -> None:
    first, count = (int(each) for each in sys.argv[1:])
    seeds = range(first, first + count)
    found = {seed: History(seed, hostile=True).difference(100) for seed in seeds}
    different = {seed: text for seed, text in found.items() if text}
    print(f"{len(different)} of {count} histories differ: {different}")
    sys.exit(bool(different))


if __name__ == "__main__":
    main()
