"""A tuning job goes through what its trials do."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.errors import Code
from footplate.domain.job_states import State
from footplate.domain.jobs import Ending, Exit, ExitKind, Job
from footplate.domain.lifecycle import (
    TRANSITIONS,
    Admitted,
    CancelRequested,
    Event,
    ReplicaExited,
    RunExpired,
    SearchEnds,
    TrialsBegin,
    TrialsGone,
    WaitExpired,
    commands,
    react,
)
from tests.support.jobs import CREATED, make_job
from tests.support.searches import make_tuning_job

AT = CREATED + timedelta(seconds=1)
WELL = SearchEnds(AT, Ending(State.SUCCEEDED))
BADLY = SearchEnds(AT, Ending(State.FAILED, Code.ABORTED, "all failed"))
CANCEL = CancelRequested(AT)
PREPARED, RUNNING, GONE = (
    TrialsBegin(AT, running=False),
    TrialsBegin(AT, running=True),
    TrialsGone(AT),
)
OF_OTHERS: tuple[Event, ...] = (
    Admitted(AT),
    ReplicaExited(AT, 0, "master-replica-0", Exit(ExitKind.EXITED)),
    RunExpired(AT),
    WaitExpired(AT),
)


def live(*events: Event) -> Job:
    job = make_tuning_job()
    for event in events:
        job = react(job, event).job
    return job


def test_it_goes_the_way_of_its_trials() -> None:
    assert live(PREPARED).state is State.PREPARING
    running = live(PREPARED, RUNNING)
    assert running.state is State.RUNNING
    assert running.start_time == AT
    assert live(PREPARED, RUNNING, WELL).state is State.RUNNING
    ended = live(PREPARED, RUNNING, WELL, GONE)
    assert ended.state is State.SUCCEEDED
    assert ended.end_time == AT


def test_one_event_goes_one_step() -> None:
    assert live(RUNNING).state is State.PREPARING
    assert live(RUNNING, RUNNING).state is State.RUNNING


def test_a_trial_that_is_prepared_later_changes_nothing() -> None:
    assert live(PREPARED, RUNNING, PREPARED).state is State.RUNNING


@pytest.mark.parametrize("before", [(), (PREPARED,), (PREPARED, RUNNING)])
def test_a_cancelled_one_waits_for_its_trials(before: tuple[Event, ...]) -> None:
    assert live(*before, CANCEL).state is State.CANCELLING
    ended = live(*before, CANCEL, WELL, GONE)
    assert ended.state is State.CANCELLED
    assert ended.ending == Ending(State.CANCELLED, Code.CANCELLED, "cancelled by request")


def test_one_that_fails_can_still_be_cancelled_and_isnt_twice() -> None:
    failing = live(PREPARED, RUNNING, BADLY)
    assert failing.state is State.RUNNING
    assert live(PREPARED, RUNNING, BADLY, GONE).state is State.FAILED
    cancelled = live(PREPARED, RUNNING, BADLY, CANCEL)
    assert cancelled.state is State.CANCELLING
    assert react(cancelled, CANCEL).job is cancelled


def test_nothing_is_asked_of_a_backend() -> None:
    for job in (live(), live(PREPARED, RUNNING), live(CANCEL)):
        assert commands(job) == ()


def test_its_events_mean_nothing_to_other_jobs() -> None:
    job = make_job()
    for event in (PREPARED, RUNNING, WELL, GONE):
        assert react(job, event).job is job


@given(st.lists(st.sampled_from([PREPARED, RUNNING, WELL, BADLY, GONE, CANCEL, *OF_OTHERS])))
def test_any_order_of_events_keeps_to_the_table(events: list[Event]) -> None:
    job = make_tuning_job()
    for event in events:
        after = react(job, event).job
        assert after.state is job.state or after.state in TRANSITIONS[job.state]
        assert after.attempt == 0
        assert not after.state.terminal or after.ending is not None
        job = after
