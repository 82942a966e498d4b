"""The reconciler keeps limits, and judges ends; whom it waits for before that."""

from __future__ import annotations

import pytest

from footplate.control.reconciler import REPORT_GRACE_S
from footplate.domain.errors import Code
from footplate.domain.job_states import State
from footplate.domain.jobs import Exit, ExitKind
from footplate.domain.lifecycle import ReplicaExited
from footplate.domain.lifecycle.replica_losses import ECHO_S
from tests.unit.control.reconciler_rig import (
    EVALUATOR,
    FAILED,
    GRACE_S,
    LIMIT_S,
    MASTER,
    NEVER,
    OK,
    WORKER,
    Rig,
)


def test_a_job_whose_program_ended_in_time_while_there_was_no_server_has_ended_well() -> None:
    rig = Rig()
    rig.run()
    rig.clock.advance(LIMIT_S + 100.0)
    rig.restart()

    assert rig.reconcile() == REPORT_GRACE_S
    rig.clock.advance(REPORT_GRACE_S - 1.0)
    assert rig.reconcile() == 1.0
    rig.exit(OK)
    rig.reconcile()

    assert rig.job.state is State.SUCCEEDED


def test_a_job_that_began_to_run_in_time_while_there_was_no_server_runs_on() -> None:
    rig = Rig()
    rig.clock.advance(LIMIT_S + 100.0)
    rig.restart()

    assert rig.reconcile() == REPORT_GRACE_S
    rig.run()
    rig.reconcile()

    assert rig.job.state is State.RUNNING
    assert rig.job.ending is None


@pytest.mark.parametrize("runs", [False, True])
@pytest.mark.parametrize("jump_s", [REPORT_GRACE_S, -3600.0])
def test_a_new_server_listens_only_so_long(jump_s: float, runs: bool) -> None:  # noqa: FBT001
    rig = Rig()
    if runs:
        rig.run()
    rig.clock.advance(LIMIT_S + 4000.0)
    rig.restart()
    rig.reconcile()

    rig.clock.advance(jump_s)
    rig.reconcile()

    assert rig.job.ending is not None
    assert rig.job.ending.code is Code.DEADLINE_EXCEEDED


def test_what_nothing_is_left_of_is_not_listened_for() -> None:
    rig = Rig()
    rig.clock.advance(LIMIT_S)
    rig.backend.end(rig.job.attempt_id)
    rig.restart()
    rig.reconcile()

    assert rig.job.state is State.CANCELLED


def test_limits_are_kept_to_the_second_by_a_server_that_was_there() -> None:
    rig = Rig()
    rig.clock.advance(LIMIT_S - 0.5)
    assert rig.reconcile() == 0.5
    assert rig.job.ending is None

    rig.clock.advance(0.5)
    rig.reconcile()
    assert rig.job.state is State.CANCELLING

    rig = Rig()
    rig.run()
    rig.clock.advance(LIMIT_S)
    assert rig.reconcile() == 1.0, "its supervisor may see to it first"
    rig.clock.advance(1.0)
    rig.reconcile()
    assert rig.job.state is State.CANCELLING


def test_a_job_whose_end_is_decided_waits_for_nothing_else() -> None:
    rig = Rig(workers=1)
    rig.clock.advance(REPORT_GRACE_S)
    rig.exit(FAILED)
    rig.clock.advance(ECHO_S)
    rig.reconcile()
    rig.clock.advance(LIMIT_S)

    assert rig.reconcile() == NEVER, "the worker ends when it ends; looking on doesn't help"
    assert rig.job.ending is not None
    assert rig.job.ending.state is State.FAILED


def test_a_failure_in_a_gang_is_judged_to_the_second() -> None:
    rig = Rig(workers=1)
    rig.run(WORKER)
    rig.clock.advance(REPORT_GRACE_S)
    rig.exit(FAILED)

    assert rig.reconcile() == ECHO_S
    rig.clock.advance(ECHO_S - 1.0)
    assert (rig.reconcile(), rig.job.ending) == (1.0, None)
    rig.clock.advance(1.0)
    rig.reconcile()

    assert rig.job.ending is not None
    assert rig.job.ending.state is State.FAILED
    assert list(rig.backend.stopping) == [rig.job.attempt_id]


def test_a_loss_that_is_seen_with_a_failure_that_is_due_comes_first() -> None:
    rig = Rig(workers=1)
    rig.run(WORKER)
    rig.clock.advance(REPORT_GRACE_S)
    rig.exit(FAILED)
    rig.clock.advance(ECHO_S + 20.0)
    rig.backend.end(rig.job.attempt_id, WORKER, "the replica's supervisor was lost")
    rig.reconcile()

    assert (rig.job.ending, rig.job.attempt) == (None, 1)
    assert [replica.restart for replica in rig.job.replicas] == [1, 1]


def test_a_new_server_listens_before_it_judges() -> None:
    rig = Rig(workers=1)
    rig.run(WORKER)
    rig.exit(FAILED)
    rig.clock.advance(ECHO_S)
    rig.restart()

    assert rig.reconcile() == REPORT_GRACE_S
    rig.happen(ReplicaExited(rig.clock.now(), 1, WORKER, Exit(ExitKind.SIGNALLED, 9)))
    rig.clock.advance(REPORT_GRACE_S)
    rig.reconcile()

    assert rig.job.ending is None


@pytest.mark.parametrize("jump_s", [-1.0, -3600.0])
def test_a_clock_that_is_turned_back_keeps_no_failure_waiting(jump_s: float) -> None:
    rig = Rig(workers=1)
    rig.run(WORKER)
    rig.clock.advance(REPORT_GRACE_S)
    rig.exit(FAILED)
    rig.clock.advance(jump_s)
    rig.clock.advance(min(rig.reconcile(), 3 * ECHO_S))
    rig.reconcile()

    assert rig.job.ending is not None


def test_evaluators_are_stopped_when_their_grace_is_over() -> None:
    rig = Rig(evaluators=1)
    rig.run(EVALUATOR)
    rig.exit(OK)

    assert rig.reconcile() == GRACE_S
    assert rig.backend.stopping == {}
    rig.clock.advance(GRACE_S)
    assert rig.reconcile() == NEVER
    assert rig.backend.stopping == {rig.job.attempt_id: {MASTER, EVALUATOR}}
    rig.backend.end(rig.job.attempt_id)
    rig.reconcile()

    assert rig.job.state is State.SUCCEEDED


def test_nobody_is_stopped_who_has_told_its_end() -> None:
    rig = Rig()
    rig.run()
    rig.exit(OK)

    rig.reconcile()

    assert rig.job.ending is not None
    assert rig.backend.stopping == {}


def test_whoever_runs_on_after_the_primary_is_stopped() -> None:
    rig = Rig(workers=1)
    rig.run(WORKER)
    rig.exit(OK)

    rig.reconcile()

    assert rig.backend.stopping == {rig.job.attempt_id: {MASTER, WORKER}}
