"""Changes of one job that come at the same time: one write for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event as Flag

import pytest

from footplate.control.combined_updates import CombinedUpdates
from footplate.domain.errors import NotFound, Unavailable
from footplate.domain.job_states import Phase
from footplate.domain.jobs import Job, JobEvent
from footplate.domain.lifecycle import Admitted, ReplicaPreparing, react
from footplate.domain.names import JobUid
from tests.support.jobs import CREATED, make_job, make_spec
from tests.support.local_backend import wait_until
from tests.support.store import MemoryStore

WORKERS = 4


class SlowStore(MemoryStore):
    """Its first write waits for ``released``; no write is possible while ``broken``."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[int] = []
        self.began, self.released = Flag(), Flag()
        self.broken: str | None = None
        """The message of events that can't be written."""
        self.error: BaseException = Unavailable("the disk is full")

    def update(self, job: Job, events: Sequence[JobEvent]) -> None:
        if any(event.message == self.broken for event in events):
            raise self.error
        self.began.set()
        self.released.wait()
        super().update(job, events)
        self.writes.append(len(events))


@pytest.fixture
def store() -> SlowStore:
    return SlowStore()


@pytest.fixture
def job(store: SlowStore) -> Job:
    made = make_job(spec=make_spec(workers=WORKERS))
    store.create(made, ())
    admitted = react(made, Admitted(CREATED)).job
    MemoryStore.update(store, admitted, ())
    return admitted


def make_steps(job: Job, number: int) -> tuple[ReplicaPreparing, JobEvent]:
    replica = job.replicas[number].name
    preparing = ReplicaPreparing(CREATED, job.attempt, replica)
    return preparing, JobEvent(CREATED, "NOTE", replica, job.attempt, replica)


def test_what_comes_during_a_write_is_in_the_next_one(store: SlowStore, job: Job) -> None:
    updates, count = CombinedUpdates(store), len(job.replicas)
    with ThreadPoolExecutor(count) as threads:
        first = threads.submit(updates.apply, job.uid, make_steps(job, 0))
        store.began.wait()
        others = [
            threads.submit(updates.apply, job.uid, make_steps(job, n)) for n in range(1, count)
        ]
        wait_until(lambda: len(updates._waiting.get(job.uid, ())) == count - 1)
        store.released.set()
        found = [each.result() for each in (first, *others)]
    assert len(store.writes) == 2
    for number, after in enumerate(found):
        assert after.replicas[number].phase is Phase.PREPARING
    messages = {stored.event.message for stored in store.events(job.uid)}
    assert messages >= {replica.name for replica in job.replicas}


def test_one_that_can_not_be_written_does_not_hold_up_the_others(
    store: SlowStore, job: Job
) -> None:
    updates, count = CombinedUpdates(store), len(job.replicas)
    store.broken = job.replicas[1].name
    with ThreadPoolExecutor(count) as threads:
        first = threads.submit(updates.apply, job.uid, make_steps(job, 0))
        store.began.wait()
        bad = threads.submit(updates.apply, job.uid, make_steps(job, 1))
        good = threads.submit(updates.apply, job.uid, make_steps(job, 2))
        wait_until(lambda: len(updates._waiting.get(job.uid, ())) == 2)
        store.released.set()
        first.result()
        assert good.result().replicas[2].phase is Phase.PREPARING
        with pytest.raises(Unavailable):
            bad.result()
    assert store.get_by_uid(job.uid).replicas[1].phase is Phase.WAITING


class Interrupted(BaseException):
    """As an interrupt of the process is, no Exception."""


def test_an_interrupt_is_said_to_each(store: SlowStore, job: Job) -> None:
    updates, count = CombinedUpdates(store), len(job.replicas)
    store.broken, store.error = job.replicas[1].name, Interrupted()
    with ThreadPoolExecutor(count) as threads:
        first = threads.submit(updates.apply, job.uid, make_steps(job, 0))
        store.began.wait()
        others = [threads.submit(updates.apply, job.uid, make_steps(job, n)) for n in (1, 2)]
        wait_until(lambda: len(updates._waiting.get(job.uid, ())) == 2)
        store.released.set()
        first.result()
        for each in others:
            with pytest.raises(Interrupted):
                each.result()


def test_a_job_that_is_gone_is_said_to_each(store: SlowStore) -> None:
    updates = CombinedUpdates(store)
    for _ in range(2):
        with pytest.raises(NotFound):
            updates.apply(JobUid("none"), (Admitted(CREATED),))
