"""The loop's thread, with nothing to do."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, cast

import pytest

from footplate.control import loop as loop_module
from footplate.control.loop import Loop
from footplate.domain.errors import Unavailable

if TYPE_CHECKING:
    from footplate.control.admission import Admission
    from footplate.control.reconciler import Reconciler


PATIENCE_S = 60.0
"""Of a test that would else wait for ever."""


class Idle:
    """A reconciler and an admission in one; ``passed`` tells of each pass."""

    def __init__(self) -> None:
        self.passed = threading.Semaphore(0)
        self.calls: list[str] = []
        self.admits = False
        self.fault: Exception | None = None
        self.due_s: float | None = None
        """Of the reconciler."""
        self.queue_due_s: float | None = None

    def reconcile(self) -> float | None:
        self.calls.append("reconcile")
        fault, self.fault = self.fault, None
        if fault is not None:
            raise fault
        return self.due_s

    def admit(self) -> bool:
        self.calls.append("admit")
        return self.admits

    def seconds_to_due(self) -> float | None:
        self.passed.release()
        return self.queue_due_s


def make_loop(idle: Idle) -> Loop:
    return Loop(cast("Admission", idle), cast("Reconciler", idle))


def test_what_was_admitted_starts_in_the_same_pass() -> None:
    idle = Idle()
    make_loop(idle).step()
    assert idle.calls == ["reconcile", "admit"]

    idle.admits = True
    make_loop(idle).step()
    assert idle.calls[2:] == ["reconcile", "admit", "reconcile"]


@pytest.mark.parametrize(
    ("jobs_s", "queue_s", "due_s"),
    [(None, None, None), (3.0, None, 3.0), (None, 4.0, 4.0), (3.0, 4.0, 3.0), (5.0, 4.0, 4.0)],
)
def test_the_next_pass_is_due_when_the_first_of_all_is(
    jobs_s: float | None, queue_s: float | None, due_s: float | None
) -> None:
    idle = Idle()
    idle.due_s, idle.queue_due_s = jobs_s, queue_s

    assert make_loop(idle).step() == due_s


@pytest.mark.parametrize("fault", [RuntimeError("a defect"), Unavailable("the database is away")])
def test_a_pass_that_failed_is_tried_again(
    fault: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop_module, "RECOVERY_S", 0.0)
    idle = Idle()
    idle.fault = fault
    loop = make_loop(idle)
    loop.start()

    assert idle.passed.acquire(timeout=PATIENCE_S)

    loop.close()
    assert idle.calls[:3] == ["reconcile", "reconcile", "admit"]


def test_each_wake_is_followed_by_a_pass_and_the_end_isnt_waited_for() -> None:
    idle = Idle()
    loop = make_loop(idle)
    loop.start()
    for _ in range(3):
        assert idle.passed.acquire(timeout=PATIENCE_S)
        loop.wake()
    assert idle.passed.acquire(timeout=PATIENCE_S)

    loop.close()


def test_an_end_that_comes_just_before_a_pass_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its wake is cleared with those that the pass is for."""

    class Clearing(threading.Event):
        def clear(self) -> None:
            loop.close()
            super().clear()

    idle = Idle()
    with monkeypatch.context() as patch:
        patch.setattr(threading, "Event", Clearing)
        loop = make_loop(idle)

    loop._run()

    assert not idle.passed.acquire(blocking=False)
