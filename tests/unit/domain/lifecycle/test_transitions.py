"""The life of a job: examples that read like rules."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from footplate.control.backend_observation import seconds_to_wait
from footplate.domain.errors import Code
from footplate.domain.job_states import State
from footplate.domain.jobs import Ending, Exit, ExitKind, Job, Scheduling
from footplate.domain.lifecycle import (
    TRANSITIONS,
    Admitted,
    CancelRequested,
    Event,
    HangExpired,
    ReplicaExited,
    ReplicaGone,
    ReplicaPreparing,
    ReplicaRunning,
    RunExpired,
    Start,
    StartRefused,
    Stop,
    WaitExpired,
    commands,
    react,
)
from tests.support.jobs import make_job, make_spec

T0 = datetime(2026, 1, 2, tzinfo=UTC)
MASTER = "master-replica-0"
OK = Exit(ExitKind.EXITED, 0)
FAILED = Exit(ExitKind.EXITED, 1, "ValueError: bad")
KILLED = Exit(ExitKind.SIGNALLED, 9)
STOPPED = Exit(ExitKind.STOPPED, 0, "the supervisor was asked to end the program")
SEGFAULT = Exit(ExitKind.SIGNALLED, 11)


WHOLE = Scheduling(max_wait_time_s=1800, max_restarts=0)
"""All replicas start again, or none."""


def after(*events: Event, job: Job | None = None) -> Job:
    job = job or make_job(spec=make_spec(scheduling=WHOLE))
    for event in events:
        job = react(job, event).job
    return job


def started() -> tuple[Event, ...]:
    return (Admitted(T0), ReplicaRunning(T0, 1, MASTER))


def ended(end: Exit, attempt: int = 1) -> tuple[Event, ...]:
    return (ReplicaExited(T0, attempt, MASTER, end), ReplicaGone(T0, attempt, MASTER, "ended"))


def test_a_job_that_goes_well() -> None:
    job = make_job()
    seen = []
    for event in (Admitted(T0), ReplicaRunning(T0, 1, MASTER), *ended(OK)):
        reaction = react(job, event)
        job = reaction.job
        seen.append((job.state, reaction.commands))

    assert seen == [
        (State.PREPARING, (Start(),)),
        (State.RUNNING, (Start(),)),
        (State.RUNNING, (Stop(),)),
        (State.SUCCEEDED, ()),
    ]
    assert (job.start_time, job.end_time) == (T0, T0)


def test_the_end_waits_until_nothing_is_left() -> None:
    job = after(*started(), ReplicaExited(T0, 1, MASTER, OK))

    assert job.state is State.RUNNING
    assert job.ending is not None
    assert job.ending.state is State.SUCCEEDED


@pytest.mark.parametrize(
    ("end", "state", "code", "message"),
    [
        (
            FAILED,
            State.FAILED,
            Code.INVALID_ARGUMENT,
            f"replica {MASTER} exited with code 1: ValueError",
        ),
        (
            SEGFAULT,
            State.FAILED,
            Code.INVALID_ARGUMENT,
            (
                f"replica {MASTER} was killed by signal 11 (SIGSEGV), because the program "
                "used memory that isn't its own"
            ),
        ),
        (
            Exit(ExitKind.UNPREPARED, 0, "no"),
            State.FAILED,
            Code.FAILED_PRECONDITION,
            "prepared: no",
        ),
        (
            Exit(ExitKind.TIME_LIMIT),
            State.CANCELLED,
            Code.DEADLINE_EXCEEDED,
            "limit of its running time",
        ),
        (
            Exit(ExitKind.OUT_OF_MEMORY),
            State.FAILED,
            Code.RESOURCE_EXHAUSTED,
            "because memory ran out",
        ),
        (Exit(ExitKind.OUT_OF_DISK), State.FAILED, Code.RESOURCE_EXHAUSTED, "limit of its disk"),
    ],
)
def test_how_it_ends(end: Exit, state: State, code: Code, message: str) -> None:
    job = after(*started(), *ended(end))

    assert job.state is state
    assert job.ending is not None
    assert job.ending.code is code
    assert message in job.ending.message


def test_cancel_while_queued_ends_at_once() -> None:
    reaction = react(make_job(), CancelRequested(T0))

    assert reaction.job.state is State.CANCELLED
    assert reaction.commands == ()


def test_cancel_while_running_waits_for_the_backend() -> None:
    cancelled = after(*started(), CancelRequested(T0))
    assert cancelled.state is State.CANCELLING
    assert commands(cancelled) == (Stop(),)

    done = after(ReplicaGone(T0, 1, MASTER, "stopped"), job=cancelled)
    assert done.state is State.CANCELLED
    assert done.ending is not None
    assert done.ending.code is Code.CANCELLED


def test_cancel_after_the_program_ended_changes_nothing() -> None:
    job = after(*started(), ReplicaExited(T0, 1, MASTER, OK))

    assert react(job, CancelRequested(T0)).job is job


def test_a_lost_supervisor_starts_the_job_again_until_patience_ends() -> None:
    job = make_job(spec=make_spec(scheduling=Scheduling(max_restarts=0, max_retries=1)))
    job = after(*started(), ReplicaGone(T0, 1, MASTER, "lost"), job=job)
    assert (job.state, job.attempt, commands(job)) == (State.PREPARING, 2, (Start(),))
    assert job.start_time == T0

    job = after(ReplicaGone(T0, 2, MASTER, "lost"), job=job)
    assert job.state is State.FAILED
    assert job.ending is not None
    assert "was lost: lost (attempt 2 was the last that the job allows)" in job.ending.message


def test_a_foreign_signal_is_no_failure_of_the_program() -> None:
    job = after(*started(), *ended(KILLED))

    assert (job.state, job.attempt) == (State.PREPARING, 2)


def test_a_stop_that_nobody_asked_for_is_no_failure_of_the_program() -> None:
    """As when the machine is shut down."""
    job = after(*started(), *ended(STOPPED))
    assert (job.state, job.attempt) == (State.PREPARING, 2)

    job = after(*started(), CancelRequested(T0), *ended(STOPPED))
    assert job.state is State.CANCELLED


def test_late_reports_of_an_old_attempt_change_nothing() -> None:
    job = after(*started(), *ended(KILLED))

    for event in (*started()[1:], *ended(OK, attempt=1)):
        assert react(job, event).job is job


def test_waiting_too_long() -> None:
    spec = make_spec(scheduling=Scheduling(max_wait_time_s=1800))
    job = after(WaitExpired(T0), job=make_job(spec=spec))

    assert job.state is State.CANCELLED
    assert job.ending is not None
    assert "longest waiting time of 1800 s" in job.ending.message


def test_the_wait_is_over_once_it_runs() -> None:
    job = after(*started())

    assert react(job, WaitExpired(T0)).job is job


def test_a_job_that_ran_once_waits_no_longer_when_it_starts_again() -> None:
    job = after(*started(), ReplicaGone(T0, 1, MASTER, "lost"))
    assert job.state is State.PREPARING

    assert react(job, WaitExpired(T0)).job is job
    assert seconds_to_wait(job, T0 + timedelta(days=1)) is None


def test_a_worker_may_end_early() -> None:
    job = make_job(spec=make_spec(workers=1))
    worker = "worker-replica-0"
    running = (Admitted(T0), ReplicaRunning(T0, 1, MASTER), ReplicaRunning(T0, 1, worker))

    early = after(*running, ReplicaExited(T0, 1, worker, OK), job=job)
    assert early.ending is None
    assert early.state is State.RUNNING


@pytest.mark.parametrize(
    ("end", "state"),
    [
        (OK, State.SUCCEEDED),
        (Exit(ExitKind.TIME_LIMIT), State.CANCELLED),
        (Exit(ExitKind.OUT_OF_MEMORY), State.FAILED),
    ],
)
def test_a_job_has_a_start_though_its_end_is_known_before_all_are_said_to_run(
    end: Exit, state: State
) -> None:
    job = make_job(spec=make_spec(workers=1))
    worker = "worker-replica-0"
    later = T0 + timedelta(seconds=1)
    job = after(*started(), ReplicaExited(later, 1, MASTER, end), job=job)
    assert job.start_time == later

    late = ReplicaRunning(later, 1, worker)
    gone = (ReplicaGone(later, 1, name, "ended") for name in (MASTER, worker))
    job = after(late, *gone, job=job)
    assert (job.state, job.start_time) == (state, later)


def test_a_program_that_ends_before_all_are_said_to_run_shows_that_the_job_runs() -> None:
    job = after(*started(), job=make_job(spec=make_spec(workers=1)))
    assert job.state is State.PREPARING

    assert after(ReplicaExited(T0, 1, MASTER, FAILED), job=job).state is State.RUNNING


def test_a_job_that_was_never_prepared_has_no_start() -> None:
    for end in (Exit(ExitKind.UNPREPARED), Exit(ExitKind.OUT_OF_MEMORY)):
        job = after(Admitted(T0), ReplicaPreparing(T0, 1, MASTER), *ended(end))
        assert (job.state, job.start_time) == (State.FAILED, None)


@pytest.mark.parametrize("workers", [1, 3])
def test_a_gang_that_has_lost_a_replica_is_stopped_and_starts_again_whole(workers: int) -> None:
    job = make_job(spec=make_spec(workers=workers, scheduling=WHOLE))
    names = job.spec.replica_names()
    job = after(Admitted(T0), *(ReplicaRunning(T0, 1, name) for name in names), job=job)

    job = after(ReplicaGone(T0, 1, names[-1], "lost"), job=job)
    assert (job.attempt, commands(job)) == (1, (Stop(),))

    job = after(*(ReplicaGone(T0, 1, name, "stopped") for name in names), job=job)
    assert (job.state, job.attempt, commands(job)) == (State.PREPARING, 2, (Start(),))


def test_a_worker_that_ended_well_and_is_gone_isnt_lost() -> None:
    job = make_job(spec=make_spec(workers=1))
    worker = "worker-replica-0"
    ends = (ReplicaExited(T0, 1, worker, OK), ReplicaGone(T0, 1, worker, "ended"))
    job = after(*started(), ReplicaRunning(T0, 1, worker), *ends, job=job)

    assert commands(job) == (Start(),)


def test_devices_stay_with_the_job_through_its_attempts() -> None:
    given = Admitted(T0, {MASTER: ("0", "1")})
    job = after(given, ReplicaGone(T0, 1, MASTER, "lost"))

    assert job.attempt == 2
    assert job.primary.devices == ("0", "1")


def test_running_too_long() -> None:
    job = make_job(spec=make_spec(scheduling=Scheduling(max_running_time_s=60)))
    assert after(Admitted(T0), RunExpired(T0), job=job).ending is None, "it never ran"

    job = after(*started(), RunExpired(T0), job=job)

    assert (job.state, commands(job)) == (State.CANCELLING, (Stop(),))
    assert job.ending is not None
    assert job.ending.code is Code.DEADLINE_EXCEEDED
    assert "its limit of 60 s" in job.ending.message


def test_hanging_too_long() -> None:
    assert after(Admitted(T0), HangExpired(T0, 1, 900.0)).ending is None, "it doesn't run"
    running = after(*started())
    assert react(running, HangExpired(T0, 2, 900.0)).job is running, "another attempt is meant"

    job = after(HangExpired(T0, 1, 900.0), job=running)

    assert (job.state, commands(job)) == (State.RUNNING, (Stop(),))
    message = "no program has printed, reported or written anything for 900 s"
    assert job.ending == Ending(State.FAILED, Code.DEADLINE_EXCEEDED, message)
    assert react(job, HangExpired(T0, 1, 900.0)).job is job


def test_a_backend_that_can_never_start_it() -> None:
    job = after(Admitted(T0), StartRefused(T0, "no such partition"))
    job = after(ReplicaGone(T0, 1, MASTER, "never there"), job=job)

    assert job.state is State.FAILED


def test_states_without_a_way_out_are_the_terminal_ones() -> None:
    assert {s for s, ways in TRANSITIONS.items() if not ways} == {s for s in State if s.terminal}
    assert set(TRANSITIONS) == set(State)


def test_the_table_refuses_what_it_does_not_hold() -> None:
    broken = replace(make_job(), state=State.SUCCEEDED)

    assert react(broken, CancelRequested(T0)).job is broken
