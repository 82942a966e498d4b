"""The reconciler keeps limits, and judges ends; whom it waits for before that."""

from __future__ import annotations

import pytest

from footplate.control.reconciler import HEARING_S
from footplate.domain.errors import Code
from footplate.domain.jobs import Exit, ExitKind
from footplate.domain.lifecycle import ReplicaExited
from footplate.domain.lifecycle.losses import ECHO_S
from footplate.domain.states import State
from tests.unit.control.reconciler_house import (
    EVALUATOR,
    FAILED,
    GRACE_S,
    LIMIT_S,
    MASTER,
    NEVER,
    OK,
    WORKER,
    House,
)


def test_a_job_whose_program_ended_in_time_while_there_was_no_server_has_ended_well() -> None:
    house = House()
    house.run()
    house.clock.advance(LIMIT_S + 100.0)
    house.restart()

    assert house.reconcile() == HEARING_S
    house.clock.advance(HEARING_S - 1.0)
    assert house.reconcile() == 1.0
    house.exit(OK)
    house.reconcile()

    assert house.job.state is State.SUCCEEDED


def test_a_job_that_began_to_run_in_time_while_there_was_no_server_runs_on() -> None:
    house = House()
    house.clock.advance(LIMIT_S + 100.0)
    house.restart()

    assert house.reconcile() == HEARING_S
    house.run()
    house.reconcile()

    assert house.job.state is State.RUNNING
    assert house.job.ending is None


@pytest.mark.parametrize("runs", [False, True])
@pytest.mark.parametrize("jump_s", [HEARING_S, -3600.0])
def test_a_new_server_listens_only_so_long(jump_s: float, runs: bool) -> None:  # noqa: FBT001
    house = House()
    if runs:
        house.run()
    house.clock.advance(LIMIT_S + 4000.0)
    house.restart()
    house.reconcile()

    house.clock.advance(jump_s)
    house.reconcile()

    assert house.job.ending is not None
    assert house.job.ending.code is Code.DEADLINE_EXCEEDED


def test_what_nothing_is_left_of_is_not_listened_for() -> None:
    house = House()
    house.clock.advance(LIMIT_S)
    house.backend.end(house.job.attempt_id)
    house.restart()
    house.reconcile()

    assert house.job.state is State.CANCELLED


def test_limits_are_kept_to_the_second_by_a_server_that_was_there() -> None:
    house = House()
    house.clock.advance(LIMIT_S - 0.5)
    assert house.reconcile() == 0.5
    assert house.job.ending is None

    house.clock.advance(0.5)
    house.reconcile()
    assert house.job.state is State.CANCELLING

    house = House()
    house.run()
    house.clock.advance(LIMIT_S)
    assert house.reconcile() == 1.0, "its supervisor may see to it first"
    house.clock.advance(1.0)
    house.reconcile()
    assert house.job.state is State.CANCELLING


def test_a_job_whose_end_is_decided_waits_for_nothing_else() -> None:
    house = House(workers=1)
    house.clock.advance(HEARING_S)
    house.exit(FAILED)
    house.clock.advance(ECHO_S)
    house.reconcile()
    house.clock.advance(LIMIT_S)

    assert house.reconcile() == NEVER, "the worker ends when it ends; looking on doesn't help"
    assert house.job.ending is not None
    assert house.job.ending.state is State.FAILED


def test_a_failure_in_a_gang_is_judged_to_the_second() -> None:
    house = House(workers=1)
    house.run(WORKER)
    house.clock.advance(HEARING_S)
    house.exit(FAILED)

    assert house.reconcile() == ECHO_S
    house.clock.advance(ECHO_S - 1.0)
    assert (house.reconcile(), house.job.ending) == (1.0, None)
    house.clock.advance(1.0)
    house.reconcile()

    assert house.job.ending is not None
    assert house.job.ending.state is State.FAILED
    assert list(house.backend.stopping) == [house.job.attempt_id]


def test_a_loss_that_is_seen_with_a_failure_that_is_due_comes_first() -> None:
    house = House(workers=1)
    house.run(WORKER)
    house.clock.advance(HEARING_S)
    house.exit(FAILED)
    house.clock.advance(ECHO_S + 20.0)
    house.backend.end(house.job.attempt_id, WORKER, "its supervisor was lost")
    house.reconcile()

    assert (house.job.ending, house.job.attempt) == (None, 1)
    assert [replica.restart for replica in house.job.replicas] == [1, 1]


def test_a_new_server_listens_before_it_judges() -> None:
    house = House(workers=1)
    house.run(WORKER)
    house.exit(FAILED)
    house.clock.advance(ECHO_S)
    house.restart()

    assert house.reconcile() == HEARING_S
    house.happen(ReplicaExited(house.clock.now(), 1, WORKER, Exit(ExitKind.SIGNALLED, 9)))
    house.clock.advance(HEARING_S)
    house.reconcile()

    assert house.job.ending is None


@pytest.mark.parametrize("jump_s", [-1.0, -3600.0])
def test_a_clock_that_is_turned_back_keeps_no_failure_waiting(jump_s: float) -> None:
    house = House(workers=1)
    house.run(WORKER)
    house.clock.advance(HEARING_S)
    house.exit(FAILED)
    house.clock.advance(jump_s)
    house.clock.advance(min(house.reconcile(), 3 * ECHO_S))
    house.reconcile()

    assert house.job.ending is not None


def test_evaluators_are_stopped_when_their_grace_is_over() -> None:
    house = House(evaluators=1)
    house.run(EVALUATOR)
    house.exit(OK)

    assert house.reconcile() == GRACE_S
    assert house.backend.stopping == {}
    house.clock.advance(GRACE_S)
    assert house.reconcile() == NEVER
    assert house.backend.stopping == {house.job.attempt_id: {MASTER, EVALUATOR}}
    house.backend.end(house.job.attempt_id)
    house.reconcile()

    assert house.job.state is State.SUCCEEDED


def test_nobody_is_stopped_who_has_told_its_end() -> None:
    house = House()
    house.run()
    house.exit(OK)

    house.reconcile()

    assert house.job.ending is not None
    assert house.backend.stopping == {}


def test_whoever_runs_on_after_the_primary_is_stopped() -> None:
    house = House(workers=1)
    house.run(WORKER)
    house.exit(OK)

    house.reconcile()

    assert house.backend.stopping == {house.job.attempt_id: {MASTER, WORKER}}
