"""Somebody sets the clock while jobs wait, gather, run and end: none ends for it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest

from footplate.control import backend_observation
from footplate.control.elapsed_time import as_of, steadied
from footplate.domain.jobs import Exit, ExitKind, Job, Scheduling
from footplate.domain.lifecycle import (
    Admitted,
    Event,
    JudgementDue,
    ReplicaExited,
    ReplicaGone,
    ReplicaPreparing,
    ReplicaRunning,
    react,
)
from footplate.domain.lifecycle.replica_losses import ECHO_S
from tests.support.clock import FakeClock
from tests.support.jobs import make_job, make_spec

LIMITS = Scheduling(max_running_time_s=600.0, max_wait_time_s=1800.0)
MASTER, WORKER, EVALUATOR = "master-replica-0", "worker-replica-0", "evaluator-replica-0"
GRACE_S = 60.0
JUMPS_S = (-86_400.0, -3600.0, 3600.0, 86_400.0)


def queued(_: datetime) -> tuple[Event, ...]:
    return ()


def gathering(now: datetime) -> tuple[Event, ...]:
    return (Admitted(now), ReplicaPreparing(now, 1, MASTER))


def running(now: datetime) -> tuple[Event, ...]:
    names = (MASTER, WORKER, EVALUATOR)
    return (Admitted(now), *(ReplicaRunning(now, 1, name) for name in names))


def failing(now: datetime) -> tuple[Event, ...]:
    """The failure waits to be judged."""
    return (*running(now), ReplicaExited(now, 1, WORKER, Exit(ExitKind.EXITED, 1)))


def lingering(now: datetime) -> tuple[Event, ...]:
    """The evaluator has its grace."""
    return (*running(now), ReplicaExited(now, 1, MASTER, Exit(ExitKind.EXITED, 0)))


def make(events: Callable[[datetime], tuple[Event, ...]], clock: FakeClock) -> Job:
    job = make_job(spec=make_spec(workers=1, evaluators=1, scheduling=LIMITS), created=clock.now())
    for event in events(clock.now()):
        job = react(job, event).job
    return job


def seconds_to_due(job: Job, clock: FakeClock) -> float | None:
    known = as_of(clock.now(), job, clock)
    return backend_observation.seconds_to_due(known, clock.now(), grace_s=GRACE_S, patience_s=0.0)


@pytest.mark.parametrize("jump_s", JUMPS_S)
@pytest.mark.parametrize("events", [queued, gathering, running, failing, lingering])
def test_what_is_due_is_due_when_it_was(
    events: Callable[[datetime], tuple[Event, ...]], jump_s: float
) -> None:
    clock = FakeClock()
    job = make(events, clock)
    clock.advance(1.0)
    before = seconds_to_due(job, clock)
    clock.jump(jump_s)
    assert before is not None
    assert seconds_to_due(job, clock) == before

    clock.advance(before)
    assert seconds_to_due(job, clock) == 0.0


def test_the_record_is_left_as_it_is() -> None:
    clock = FakeClock()
    job = make(running, clock)

    assert as_of(clock.now(), job, clock) == job


@pytest.mark.parametrize("jump_s", JUMPS_S)
def test_an_echo_is_one_though_the_clock_is_set_before_it(jump_s: float) -> None:
    clock = FakeClock()
    job = make(running, clock)

    def happen(make_event: Callable[[datetime], Event]) -> None:
        nonlocal job
        clock.advance(1.0)
        job = react(job, steadied(make_event(clock.now()), clock)).job

    happen(lambda now: ReplicaExited(now, 1, WORKER, Exit(ExitKind.SIGNALLED, 9)))
    happen(lambda now: ReplicaGone(now, 1, WORKER, "it ended"))
    happen(lambda now: ReplicaRunning(now, 1, WORKER, restart=1))
    clock.jump(jump_s)
    happen(lambda now: ReplicaExited(now, 1, MASTER, Exit(ExitKind.EXITED, 1)))
    assert seconds_to_due(job, clock) == LIMITS.max_running_time_s - 3.0

    clock.advance(2 * ECHO_S)
    happen(lambda now: JudgementDue(now, 1))
    assert job.ending is None
    happen(lambda now: ReplicaGone(now, 1, MASTER, "it ended"))
    assert job.primary.restart == 1
