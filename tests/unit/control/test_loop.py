"""The loop's thread, with nothing to do."""

from __future__ import annotations

import threading

import pytest

from footplate.control import loop as loop_module
from footplate.control.loop import Loop
from footplate.domain.errors import Unavailable

PATIENCE_S = 60.0
"""Of a test that would else wait for ever."""


class Idle:
    """``passed`` tells of each pass that went well."""

    def __init__(self) -> None:
        self.passed = threading.Semaphore(0)
        self.fault: Exception | None = None

    def step(self) -> float | None:
        fault, self.fault = self.fault, None
        if fault is not None:
            raise fault
        self.passed.release()
        return None


def make_loop(idle: Idle) -> Loop:
    return Loop(idle.step, "control")


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
    assert idle.fault is None


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
