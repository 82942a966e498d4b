"""What the reconciler starts, and starts again."""

from __future__ import annotations

from dataclasses import replace

from footplate.control.reconciler import RETRY_S
from footplate.control.tokens import Bearer, Tokens
from footplate.domain.errors import FailedPrecondition, Unavailable
from footplate.domain.jobs import Scheduling
from footplate.domain.lifecycle import CancelRequested, ReplicaExited, ReplicaGone, ReplicaPreparing
from footplate.domain.states import State
from footplate.ports.backend import Presence
from tests.unit.control.reconciler_house import (
    EVALUATOR,
    LIMIT_S,
    LIMITS,
    MASTER,
    OK,
    WORKER,
    House,
)


def test_a_start_that_has_to_wait_is_tried_again_and_told_once_for_each_reason() -> None:
    house = House(starts=False)
    house.backend.refusal = Unavailable("no disk space")

    assert house.reconcile() == RETRY_S
    assert house.reconcile() == RETRY_S
    house.backend.refusal = Unavailable("no memory")
    house.clock.advance(RETRY_S)
    house.reconcile()
    told = [s.event.message for s in house.store.events(house.uid)]
    assert [text for text in told if text] == ["no disk space", "no memory"]

    house.backend.refusal = None
    house.clock.advance(RETRY_S)
    assert house.reconcile() == LIMIT_S - 2 * RETRY_S
    assert len(house.backend.requests) == 1
    house.reconcile()
    assert len(house.backend.requests) == 1


def test_a_start_that_is_refused_is_followed_at_once() -> None:
    house = House(starts=False)
    house.backend.refusal = FailedPrecondition("it has no such region")

    assert house.reconcile() == 0.0
    house.reconcile()

    assert house.job.state is State.FAILED
    assert house.job.ending is not None
    assert "no such region" in house.job.ending.message


def test_an_attempt_that_is_over_is_forgotten_and_another_one_starts() -> None:
    house = House(limits=replace(LIMITS, max_restarts=0))
    house.run()
    first = house.job.attempt_id
    house.backend.end(first, reason="its supervisor was lost")
    house.reconcile()

    assert house.job.attempt == 2
    assert [s.attempt_id for s in house.backend.list()] == [house.job.attempt_id]
    assert len(house.backend.requests) == 2


def test_a_lost_replica_is_started_again_beside_the_others() -> None:
    house = House(workers=1)
    house.run(WORKER)
    house.backend.end(house.job.attempt_id, WORKER, "its supervisor was lost")
    house.reconcile()
    house.reconcile()

    [_, again] = house.backend.requests
    [ticket] = again.tickets
    assert again.attempt_id == house.job.attempt_id
    assert (ticket.replica, ticket.restart) == (WORKER, 1)
    assert Tokens(b"key").check(ticket.token) == Bearer(house.job.attempt_id, WORKER, 1)
    assert [s.presence for s in house.backend.list()] == [Presence.LIVE, Presence.WAITING]


def test_a_restart_that_can_not_be_had_yet_is_asked_for_again() -> None:
    house = House(workers=1)
    house.run(WORKER)
    house.backend.refusal = Unavailable("no room on the disk")
    house.backend.end(house.job.attempt_id, WORKER, "its supervisor was lost")
    assert house.reconcile() == RETRY_S

    house.backend.refusal = None
    house.restart()
    house.reconcile()
    assert house.backend.requests[-1].tickets[0].restart == 1


def test_a_replica_that_is_not_started_again_any_more_is_gone() -> None:
    house = House(workers=1)
    house.run(WORKER)
    house.backend.refusal = Unavailable("no room on the disk")
    house.backend.end(house.job.attempt_id, WORKER, "its supervisor was lost")
    house.reconcile()
    house.happen(CancelRequested(house.clock.now()))
    house.backend.end(house.job.attempt_id, MASTER)
    house.reconcile()

    assert house.job.state is State.CANCELLED


def test_an_attempt_that_its_backend_has_lost_comes_to_its_end() -> None:
    """One of it had not reported yet: it isn't started any more, so it is gone as well."""
    house = House(workers=1, limits=Scheduling(max_restarts=0, max_retries=0))
    house.happen(ReplicaPreparing(house.clock.now(), 1, MASTER))
    house.backend.end(house.job.attempt_id)
    house.backend.forget(house.job.attempt_id)
    house.reconcile()
    house.reconcile()

    assert house.job.state is State.FAILED


def test_an_evaluator_that_was_lost_starts_again_in_its_grace() -> None:
    house = House(workers=1, evaluators=1, limits=Scheduling())
    house.run(WORKER, EVALUATOR)
    house.backend.end(house.job.attempt_id, EVALUATOR, "its supervisor was lost")
    house.happen(ReplicaGone(house.clock.now(), 1, EVALUATOR, "its supervisor was lost"))
    house.happen(ReplicaExited(house.clock.now(), 1, MASTER, OK))
    house.reconcile()

    seen = {s.replica: (s.restart, s.presence) for s in house.backend.list()}
    assert seen[EVALUATOR] == (1, Presence.WAITING)
    assert house.backend.is_stopping(house.job.attempt_id, WORKER)
    assert not house.backend.is_stopping(house.job.attempt_id, EVALUATOR)


def test_nobody_who_is_to_stop_starts_again_beside_it() -> None:
    house = House(workers=1, evaluators=1, limits=Scheduling())
    house.run(WORKER, EVALUATOR)
    for name in (EVALUATOR, WORKER):
        house.backend.end(house.job.attempt_id, name, "its supervisor was lost")
        house.happen(ReplicaGone(house.clock.now(), 1, name, "its supervisor was lost"))
    house.happen(ReplicaExited(house.clock.now(), 1, MASTER, OK))
    house.reconcile()
    house.backend.end(house.job.attempt_id, MASTER)
    house.backend.end(house.job.attempt_id, EVALUATOR)
    house.reconcile()

    started = [ticket.replica for ticket in house.backend.requests[-1].tickets]
    assert (started, house.job.state) == ([EVALUATOR], State.SUCCEEDED)
