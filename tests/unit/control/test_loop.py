"""The loop's thread, with nothing to do."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, cast

from footplate.control.loop import Loop

if TYPE_CHECKING:
    import pytest

    from footplate.control.admission import Admission
    from footplate.control.reconciler import Reconciler


class Idle:
    """A reconciler and an admission in one; ``passed`` tells of each pass."""

    def __init__(self) -> None:
        self.passed = threading.Semaphore(0)

    def reconcile(self) -> None:
        return None

    def admit(self) -> bool:
        return False

    def seconds_to_due(self) -> None:
        self.passed.release()


def make_loop(idle: Idle) -> Loop:
    return Loop(cast("Admission", idle), cast("Reconciler", idle))


def test_each_wake_is_followed_by_a_pass_and_the_end_isnt_waited_for() -> None:
    idle = Idle()
    loop = make_loop(idle)
    loop.start()
    for _ in range(3):
        idle.passed.acquire()
        loop.wake()
    idle.passed.acquire()

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
