"""The loop's thread, with nothing to do."""

from __future__ import annotations

import threading

import pytest

from footplate.control import control_loop as loop_module
from footplate.control.control_loop import Loop
from footplate.domain.errors import Unavailable

TIMEOUT_S = 60.0
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

    assert idle.passed.acquire(timeout=TIMEOUT_S)

    loop.close()
    assert idle.fault is None


def test_each_wake_is_followed_by_a_pass_and_the_end_isnt_waited_for() -> None:
    idle = Idle()
    loop = make_loop(idle)
    loop.start()
    for _ in range(3):
        assert idle.passed.acquire(timeout=TIMEOUT_S)
        loop.wake()
    assert idle.passed.acquire(timeout=TIMEOUT_S)

    loop.close()


class Counting:
    """Work for a loop: how much was done when each pass began; no two passes overlap."""

    def __init__(self, wanted: int) -> None:
        self._wanted = wanted
        self._lock = threading.Lock()
        self._pass = threading.Lock()
        self.done = 0
        self.overlaps = 0
        self.complete = threading.Event()

    def add(self) -> None:
        with self._lock:
            self.done += 1

    def step(self) -> float | None:
        if not self._pass.acquire(blocking=False):
            self.overlaps += 1
            return None
        with self._lock:
            seen = self.done
        if seen == self._wanted:
            self.complete.set()
        self._pass.release()
        return None


def test_wakes_at_once_lose_nothing_and_start_no_two_passes() -> None:
    threads, each = 8, 500
    work = Counting(threads * each)
    loop = Loop(work.step, "control")
    loop.start()
    together = threading.Barrier(threads)

    def wake() -> None:
        together.wait(TIMEOUT_S)
        for _ in range(each):
            work.add()
            loop.wake()

    wakers = [threading.Thread(target=wake) for _ in range(threads)]
    for waker in wakers:
        waker.start()
    for waker in wakers:
        waker.join()

    assert work.complete.wait(TIMEOUT_S), "the last wake was lost"
    loop.close()
    assert work.overlaps == 0


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
