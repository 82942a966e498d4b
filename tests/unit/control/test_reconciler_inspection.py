"""Which jobs the reconciler looks at, and that no job holds up another."""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

import pytest

from footplate.control.work_queue import SWEEP_S
from footplate.domain.errors import DataLoss, Unavailable
from footplate.domain.job_states import State
from footplate.domain.jobs import Job, Scheduling
from footplate.domain.lifecycle import ReplicaGone
from footplate.domain.names import AttemptId, JobUid
from tests.support.jobs import make_job
from tests.unit.control.reconciler_rig import MASTER, OK, Rig


def test_a_job_that_goes_while_it_is_looked_at_holds_up_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rig = Rig()
    gone = make_job("projects/demo/jobs/gone", uid="gone", state=State.RUNNING)
    spec = replace(gone.spec, scheduling=Scheduling(max_running_time_s=1.0))
    gone = replace(gone, spec=spec, start_time=gone.create_time, attempt=1)
    active = rig.store.active
    monkeypatch.setattr(rig.store, "active", lambda states: (gone, *active(states)))
    rig.backend.end(rig.job.attempt_id)

    rig.clock.advance(5.0)
    rig.reconcile()

    assert rig.job.replicas[0].restart == 1


def test_a_job_that_nothing_was_heard_of_is_looked_at_before_long() -> None:
    rig = Rig(sweep_s=SWEEP_S)
    rig.reconcile()
    rig.deaf = True
    rig.run()
    rig.exit(OK)
    assert rig.reconcile() == SWEEP_S, "it knows of nothing"
    assert rig.backend.list()

    rig.clock.advance(SWEEP_S)
    rig.reconcile()
    assert rig.job.state is State.SUCCEEDED


def test_what_is_to_start_is_found_though_nobody_tells_of_it() -> None:
    rig = Rig(starts=False, sweep_s=SWEEP_S)
    rig.reconcile()
    rig.deaf = True
    rig.backend.end(rig.job.attempt_id)
    rig.happen(ReplicaGone(rig.clock.now(), 1, MASTER, "the replica's supervisor was lost"))
    rig.reconcile()
    assert len(rig.backend.requests) == 1

    rig.clock.advance(SWEEP_S)
    rig.reconcile()
    assert [request.tickets[0].restart for request in rig.backend.requests] == [0, 1]


def test_a_pass_that_fails_forgets_nothing_that_it_was_to_look_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rig = Rig()
    rig.run()
    rig.exit(OK)
    with monkeypatch.context() as patch:
        patch.setattr(rig.backend, "inspect", _fail)
        with pytest.raises(Unavailable):
            rig.reconcile()

    rig.reconcile()
    assert rig.job.state is State.SUCCEEDED


def test_what_its_backend_sees_of_a_job_is_followed_though_nothing_was_written() -> None:
    rig = Rig()
    rig.run()
    rig.reconcile()
    rig.backend.end(rig.job.attempt_id, reason="the replica's supervisor was lost")
    rig.reconcile()

    assert rig.job.replicas[0].restart == 1


def test_an_attempt_of_nobody_stops_no_pass() -> None:
    rig = Rig()
    rig.reconciler.seen(AttemptId("no-attempt"))
    rig.reconciler.seen(AttemptId("gone-7"))

    assert rig.reconcile() > 0.0


def test_a_pass_looks_at_nothing_that_it_has_no_reason_to_look_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rig = Rig()
    rig.run()
    rig.reconcile()
    rig.reconcile()
    monkeypatch.setattr(rig.backend, "inspect", _fail)
    monkeypatch.setattr(rig.backend, "list", _fail)

    assert rig.reconcile() > 0.0
    rig.clock.advance(1.0)
    rig.reconcile()


def test_all_is_looked_at_when_anything_may_have_happened() -> None:
    rig = Rig()
    rig.reconcile()
    rig.deaf = True
    rig.run()
    rig.exit(OK)
    rig.reconcile()
    assert rig.backend.list()
    rig.reconciler.refresh()
    rig.reconcile()

    assert rig.job.state is State.SUCCEEDED


def test_a_job_that_nobody_can_read_holds_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig()
    damaged = make_job("projects/demo/jobs/damaged", uid="damaged")
    rig.run()
    rig.reconciler.changed(damaged.uid)
    rig.exit(OK)
    get_by_uid = rig.store.get_by_uid

    def read(uid: JobUid) -> Job:
        if uid == damaged.uid:
            raise DataLoss("its record can't be read")
        return get_by_uid(uid)

    monkeypatch.setattr(rig.store, "get_by_uid", read)
    rig.reconcile()

    assert rig.job.state is State.SUCCEEDED


def _fail(*_: object) -> NoReturn:
    raise Unavailable("not now")
