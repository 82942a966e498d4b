"""One pass of the control loop while many jobs wait in the database: what an arrival costs.

Beside it what a loop without a memory does in each pass: read all active jobs, and sort them.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import create_engine, insert

from footplate.control.admission import Admission
from footplate.control.cycle import Cycle
from footplate.control.job_queue import Queue
from footplate.control.reconciler import Reconciler
from footplate.control.tokens import Tokens
from footplate.domain.jobs import JobEvent
from footplate.server.clock import SystemClock
from footplate.store import ObservedStore, open_store, row_codec
from footplate.store.tables import job_events, jobs

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.support.catalogue import built_in
from tests.support.jobs import make_job, make_spec
from tests.support.sites import make_regions, make_site

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.domain.jobs import Job
    from footplate.store import SqlStore

QUEUES = (1_000, 10_000, 50_000)
ARRIVALS = 20
PROJECTS = 20


class Farm:
    """A machine that is full, and ``waiting`` jobs in the database."""

    def __init__(self, folder: Path, waiting: int) -> None:
        self.clock = SystemClock(folder / "clock.json")
        self.kept: SqlStore = open_store(f"sqlite:///{folder}/footplate.db")
        self.made = 0
        self.fill(folder, waiting)
        regions = make_regions(make_site(replicas=20))
        self.store = ObservedStore(self.kept, lambda uid: queue.changed(uid), lambda _: None)
        queue = Queue(self.store, regions, built_in(), 3600.0, self.clock)
        admission = Admission(self.store, queue, regions, built_in(), self.clock)
        reconciler = Reconciler(self.store, regions, self.clock, Tokens(b"key"), 0.0)
        self.round = Cycle(admission, reconciler)

    def fill(self, folder: Path, waiting: int) -> None:
        """Past the store, in one transaction; all of them were told why they wait."""
        made = [self.job() for _ in range(waiting)]
        told = JobEvent(self.clock.now(), "WAITING", "the machine is full", key="waits")
        engine = create_engine(f"sqlite:///{folder}/footplate.db")
        with engine.begin() as connection:
            connection.execute(insert(jobs), [row_codec.job_values(job) for job in made])
            rows = [row_codec.event_values(job.uid, 1, told) for job in made]
            connection.execute(insert(job_events), rows)
        engine.dispose()

    def job(self) -> Job:
        self.made += 1
        name = f"projects/p{self.made % PROJECTS}/jobs/job_{self.made}"
        created = self.clock.now() + timedelta(microseconds=self.made)
        spec = make_spec(workers=self.made % 4)
        return make_job(name, uid=f"uid{self.made}", created=created, spec=spec)

    def settle(self) -> float:
        """Take up all that waits, and tell it why; returns the seconds of the first pass."""
        first_s = seconds(self.round.step)
        while self.round.step() == 0.0:
            pass
        return first_s

    def arrive(self) -> None:
        self.store.create(self.job(), ())
        self.round.step()

    def read_and_sort(self) -> None:
        sorted(self.kept.active(), key=lambda job: -job.spec.scheduling.priority)


def seconds(action: Callable[[], object]) -> float:
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def main() -> None:
    print("| waiting | first pass | arrival and pass | read and sort | ratio |")
    print("|---|---|---|---|---|")
    for waiting in QUEUES:
        with tempfile.TemporaryDirectory() as folder:
            farm = Farm(Path(folder), waiting)
            first_s = farm.settle()
            arrival_s = statistics.median(seconds(farm.arrive) for _ in range(ARRIVALS))
            plain_s = statistics.median(seconds(farm.read_and_sort) for _ in range(3))
        print(
            f"| {waiting:,} | {first_s:.2f} s | {arrival_s * 1e3:.1f} ms | "
            f"{plain_s * 1e3:.0f} ms | {plain_s / arrival_s:.0f} |"
        )


if __name__ == "__main__":
    main()
