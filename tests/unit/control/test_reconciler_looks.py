"""Which jobs the reconciler looks at, and that no job holds up another."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

import pytest

from footplate.control.agenda import SWEEP_S
from footplate.domain.errors import DataLoss, Unavailable
from footplate.domain.jobs import Job, Scheduling
from footplate.domain.lifecycle import ReplicaGone
from footplate.domain.names import AttemptId
from footplate.domain.states import State
from tests.support.jobs import make_job
from tests.unit.control.reconciler_house import MASTER, OK, House

if TYPE_CHECKING:
    from footplate.domain.names import JobUid


def test_a_job_that_goes_while_it_is_looked_at_holds_up_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house = House()
    gone = make_job("projects/demo/jobs/gone", uid="gone", state=State.RUNNING)
    spec = replace(gone.spec, scheduling=Scheduling(max_running_time_s=1.0))
    gone = replace(gone, spec=spec, start_time=gone.create_time, attempt=1)
    active = house.store.active
    monkeypatch.setattr(house.store, "active", lambda states: (gone, *active(states)))
    house.backend.end(house.job.attempt_id)

    house.clock.advance(5.0)
    house.reconcile()

    assert house.job.replicas[0].restart == 1


def test_a_job_that_nothing_was_heard_of_is_looked_at_before_long() -> None:
    house = House(sweep_s=SWEEP_S)
    house.reconcile()
    house.deaf = True
    house.run()
    house.exit(OK)
    assert house.reconcile() == SWEEP_S, "it knows of nothing"
    assert house.backend.list()

    house.clock.advance(SWEEP_S)
    house.reconcile()
    assert house.job.state is State.SUCCEEDED


def test_what_is_to_start_is_found_though_nobody_tells_of_it() -> None:
    house = House(starts=False, sweep_s=SWEEP_S)
    house.reconcile()
    house.deaf = True
    house.backend.end(house.job.attempt_id)
    house.happen(ReplicaGone(house.clock.now(), 1, MASTER, "its supervisor was lost"))
    house.reconcile()
    assert len(house.backend.requests) == 1

    house.clock.advance(SWEEP_S)
    house.reconcile()
    assert [request.tickets[0].restart for request in house.backend.requests] == [0, 1]


def test_a_pass_that_fails_forgets_nothing_that_it_was_to_look_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house = House()
    house.run()
    house.exit(OK)
    with monkeypatch.context() as patch:
        patch.setattr(house.backend, "look", _fail)
        with pytest.raises(Unavailable):
            house.reconcile()

    house.reconcile()
    assert house.job.state is State.SUCCEEDED


def test_what_its_backend_sees_of_a_job_is_followed_though_nothing_was_written() -> None:
    house = House()
    house.run()
    house.reconcile()
    house.backend.end(house.job.attempt_id, reason="its supervisor was lost")
    house.reconcile()

    assert house.job.replicas[0].restart == 1


def test_an_attempt_of_nobody_stops_no_pass() -> None:
    house = House()
    house.reconciler.seen(AttemptId("no-attempt"))
    house.reconciler.seen(AttemptId("gone-7"))

    assert house.reconcile() > 0.0


def test_a_pass_looks_at_nothing_that_it_has_no_reason_to_look_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house = House()
    house.run()
    house.reconcile()
    house.reconcile()
    monkeypatch.setattr(house.backend, "look", _fail)
    monkeypatch.setattr(house.backend, "list", _fail)

    assert house.reconcile() > 0.0
    house.clock.advance(1.0)
    house.reconcile()


def test_all_is_looked_at_when_anything_may_have_happened() -> None:
    house = House()
    house.reconcile()
    house.deaf = True
    house.run()
    house.exit(OK)
    house.reconcile()
    assert house.backend.list()
    house.reconciler.refresh()
    house.reconcile()

    assert house.job.state is State.SUCCEEDED


def test_a_job_that_nobody_can_read_holds_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    house = House()
    damaged = make_job("projects/demo/jobs/damaged", uid="damaged")
    house.run()
    house.reconciler.changed(damaged.uid)
    house.exit(OK)
    get_by_uid = house.store.get_by_uid

    def read(uid: JobUid) -> Job:
        if uid == damaged.uid:
            raise DataLoss("its record can't be read")
        return get_by_uid(uid)

    monkeypatch.setattr(house.store, "get_by_uid", read)
    house.reconcile()

    assert house.job.state is State.SUCCEEDED


def _fail(*_: object) -> NoReturn:
    raise Unavailable("not now")
