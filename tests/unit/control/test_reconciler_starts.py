"""What the reconciler starts, and starts again."""

from __future__ import annotations

from dataclasses import replace

from footplate.control.reconciler import RETRY_S
from footplate.control.tokens import Bearer, Tokens
from footplate.domain.errors import FailedPrecondition, Unavailable
from footplate.domain.job_states import State
from footplate.domain.jobs import Scheduling
from footplate.domain.lifecycle import CancelRequested, ReplicaExited, ReplicaGone, ReplicaPreparing
from footplate.ports.backend import Presence
from tests.unit.control.reconciler_rig import (
    EVALUATOR,
    LIMIT_S,
    LIMITS,
    MASTER,
    OK,
    WORKER,
    Rig,
)


def test_a_start_that_has_to_wait_is_tried_again_and_told_once_for_each_reason() -> None:
    rig = Rig(starts=False)
    rig.backend.refusal = Unavailable("no disk space")

    assert rig.reconcile() == RETRY_S
    assert rig.reconcile() == RETRY_S
    rig.backend.refusal = Unavailable("no memory")
    rig.clock.advance(RETRY_S)
    rig.reconcile()
    told = [s.event.message for s in rig.store.events(rig.uid)]
    assert [text for text in told if text] == ["no disk space", "no memory"]

    rig.backend.refusal = None
    rig.clock.advance(RETRY_S)
    assert rig.reconcile() == LIMIT_S - 2 * RETRY_S
    assert len(rig.backend.requests) == 1
    rig.reconcile()
    assert len(rig.backend.requests) == 1


def test_a_start_says_whose_job_it_is() -> None:
    rig = Rig(starts=False)
    labels = (("footplate-slurm-qos", "high"),)
    job = rig.job
    rig.store.update(replace(job, labels=labels, version=job.version + 1), ())
    rig.reconcile()
    [request] = rig.backend.requests
    assert (request.project, request.labels) == (rig.job.name.project, dict(labels))


def test_a_start_that_is_refused_is_followed_at_once() -> None:
    rig = Rig(starts=False)
    rig.backend.refusal = FailedPrecondition("it has no such region")

    assert rig.reconcile() == 0.0
    rig.reconcile()

    assert rig.job.state is State.FAILED
    assert rig.job.ending is not None
    assert "no such region" in rig.job.ending.message


def test_an_attempt_that_is_over_is_forgotten_and_another_one_starts() -> None:
    rig = Rig(limits=replace(LIMITS, max_restarts=0))
    rig.run()
    first = rig.job.attempt_id
    rig.backend.end(first, reason="the replica's supervisor was lost")
    rig.reconcile()

    assert rig.job.attempt == 2
    assert [s.attempt_id for s in rig.backend.list()] == [rig.job.attempt_id]
    assert len(rig.backend.requests) == 2


def test_a_lost_replica_is_started_again_beside_the_others() -> None:
    rig = Rig(workers=1)
    rig.run(WORKER)
    rig.backend.end(rig.job.attempt_id, WORKER, "the replica's supervisor was lost")
    rig.reconcile()
    rig.reconcile()

    [_, again] = rig.backend.requests
    [ticket] = again.tickets
    assert again.attempt_id == rig.job.attempt_id
    assert (ticket.replica, ticket.restart) == (WORKER, 1)
    assert Tokens(b"key").check(ticket.token) == Bearer(rig.job.attempt_id, WORKER, 1)
    assert [s.presence for s in rig.backend.list()] == [Presence.LIVE, Presence.WAITING]


def test_a_restart_that_can_not_be_had_yet_is_asked_for_again() -> None:
    rig = Rig(workers=1)
    rig.run(WORKER)
    rig.backend.refusal = Unavailable("no room on the disk")
    rig.backend.end(rig.job.attempt_id, WORKER, "the replica's supervisor was lost")
    assert rig.reconcile() == RETRY_S

    rig.backend.refusal = None
    rig.restart()
    rig.reconcile()
    assert rig.backend.requests[-1].tickets[0].restart == 1


def test_a_replica_that_is_not_started_again_any_more_is_gone() -> None:
    rig = Rig(workers=1)
    rig.run(WORKER)
    rig.backend.refusal = Unavailable("no room on the disk")
    rig.backend.end(rig.job.attempt_id, WORKER, "the replica's supervisor was lost")
    rig.reconcile()
    rig.happen(CancelRequested(rig.clock.now()))
    rig.backend.end(rig.job.attempt_id, MASTER)
    rig.reconcile()

    assert rig.job.state is State.CANCELLED


def test_an_attempt_that_its_backend_has_lost_comes_to_its_end() -> None:
    """One of it had not reported yet: it isn't started any more, so it is gone as well."""
    rig = Rig(workers=1, limits=Scheduling(max_restarts=0, max_retries=0))
    rig.happen(ReplicaPreparing(rig.clock.now(), 1, MASTER))
    rig.backend.end(rig.job.attempt_id)
    rig.backend.forget(rig.job.attempt_id)
    rig.reconcile()
    rig.reconcile()

    assert rig.job.state is State.FAILED


def test_an_evaluator_that_was_lost_starts_again_in_its_grace() -> None:
    rig = Rig(workers=1, evaluators=1, limits=Scheduling())
    rig.run(WORKER, EVALUATOR)
    rig.backend.end(rig.job.attempt_id, EVALUATOR, "the replica's supervisor was lost")
    rig.happen(ReplicaGone(rig.clock.now(), 1, EVALUATOR, "the replica's supervisor was lost"))
    rig.happen(ReplicaExited(rig.clock.now(), 1, MASTER, OK))
    rig.reconcile()

    seen = {s.replica: (s.restart, s.presence) for s in rig.backend.list()}
    assert seen[EVALUATOR] == (1, Presence.WAITING)
    assert rig.backend.is_stopping(rig.job.attempt_id, WORKER)
    assert not rig.backend.is_stopping(rig.job.attempt_id, EVALUATOR)


def test_nobody_who_is_to_stop_starts_again_beside_it() -> None:
    rig = Rig(workers=1, evaluators=1, limits=Scheduling())
    rig.run(WORKER, EVALUATOR)
    for name in (EVALUATOR, WORKER):
        rig.backend.end(rig.job.attempt_id, name, "the replica's supervisor was lost")
        rig.happen(ReplicaGone(rig.clock.now(), 1, name, "the replica's supervisor was lost"))
    rig.happen(ReplicaExited(rig.clock.now(), 1, MASTER, OK))
    rig.reconcile()
    rig.backend.end(rig.job.attempt_id, MASTER)
    rig.backend.end(rig.job.attempt_id, EVALUATOR)
    rig.reconcile()

    started = [ticket.replica for ticket in rig.backend.requests[-1].tickets]
    assert (started, rig.job.state) == ([EVALUATOR], State.SUCCEEDED)
