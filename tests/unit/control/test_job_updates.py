"""How a job changes: decided on what is stored, and written once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from footplate.control.job_updates import TRIES, apply, apply_all
from footplate.domain.errors import Aborted
from footplate.domain.jobs import Exit, ExitKind, Job, JobEvent
from footplate.domain.lifecycle import (
    Admitted,
    CancelRequested,
    Event,
    ReplicaExited,
    ReplicaGone,
    ReplicaPreparing,
    ReplicaRunning,
)
from tests.support.clock import BEGINNING as NOW
from tests.support.jobs import make_job
from tests.support.store import MemoryStore

MASTER = "master-replica-0"
NOTE = JobEvent(NOW, "ISOLATION", "cgroup", 1, MASTER, "1/master-replica-0/2")
LIFE: tuple[Event | JobEvent, ...] = (
    Admitted(NOW),
    ReplicaPreparing(NOW, 1, MASTER),
    NOTE,
    ReplicaRunning(NOW, 1, MASTER),
    ReplicaExited(NOW, 1, MASTER, Exit(ExitKind.EXITED, 0)),
)


class Store(MemoryStore):
    """Somebody else is faster, as often as is said."""

    def __init__(self, rivals: int = 0) -> None:
        super().__init__()
        self.rivals = rivals
        self.written = 0
        self.create(make_job(), ())
        self.uid = make_job().uid

    def update(self, job: Job, events: Sequence[JobEvent]) -> None:
        if self.rivals:
            self.rivals -= 1
            stored = self.get_by_uid(job.uid)
            super().update(replace(stored, version=stored.version + 1), ())
        super().update(job, events)
        self.written += 1

    def append(self, uid: str, events: Sequence[JobEvent]) -> None:
        super().append(self.uid, events)
        self.written += 1

    def kinds(self) -> list[str]:
        return [stored.event.kind for stored in self.events(self.uid)]


def test_what_happens_together_is_written_once_and_is_the_same_as_one_by_one() -> None:
    together, single = Store(), Store()
    apply_all(together, together.uid, LIFE)
    for step in LIFE:
        apply_all(single, single.uid, (step,))

    assert together.written == 1
    job, other = together.get_by_uid(together.uid), single.get_by_uid(single.uid)
    assert replace(job, version=0) == replace(other, version=0)
    assert together.kinds() == single.kinds() == ["PREPARING", "ISOLATION", "RUNNING"]


def test_what_changes_nothing_is_not_written() -> None:
    store = Store()
    reaction = apply_all(store, store.uid, [ReplicaGone(NOW, 1, MASTER, "") for _ in range(3)])

    assert reaction.job == store.get_by_uid(store.uid)
    assert store.written == 0


def test_what_is_only_noted_is_kept_without_a_change() -> None:
    store = Store()
    apply(store, store.uid, ReplicaGone(NOW, 1, MASTER, ""), (NOTE,))

    assert store.kinds() == ["ISOLATION"]
    assert store.get_by_uid(store.uid).version == 1


def test_whoever_comes_too_late_decides_again_and_all_of_it() -> None:
    store = Store(rivals=3)
    apply_all(store, store.uid, LIFE)

    job = store.get_by_uid(store.uid)
    assert job.ending is not None
    assert job.version == 1 + 3 + 1
    assert store.kinds() == ["PREPARING", "ISOLATION", "RUNNING"]


def test_a_job_that_the_caller_has_read_is_read_again_after_a_conflict() -> None:
    store = Store(rivals=1)
    apply_all(store, store.uid, LIFE, store.get_by_uid(store.uid))

    assert store.get_by_uid(store.uid).version == 3
    assert store.kinds() == ["PREPARING", "ISOLATION", "RUNNING"]


def test_somebody_who_is_always_too_late_gives_up_and_leaves_nothing() -> None:
    store = Store(rivals=TRIES)
    with pytest.raises(Aborted, match="keep changing job"):
        apply(store, store.uid, CancelRequested(NOW))

    assert store.get_by_uid(store.uid).ending is None
