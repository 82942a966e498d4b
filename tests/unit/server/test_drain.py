"""An end that waits for jobs."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event, Thread

from footplate.domain.errors import Unavailable
from footplate.server.service import Drain

LONG_S = 60.0


def test_it_comes_when_no_job_is_active_though_nobody_may_know_meanwhile() -> None:
    looks: list[Exception | Sequence[str]] = [["census"], Unavailable("away"), ["census"], []]
    drained = Event()

    def active() -> Sequence[str]:
        assert not drained.is_set()
        look = looks.pop(0)
        if isinstance(look, Exception):
            raise look
        return look

    draining = Drain(active, drained.set, check_s=0)
    draining.begin()
    assert drained.wait(LONG_S)
    assert not looks


def test_who_asks_for_it_does_not_wait() -> None:
    idle, drained = Event(), Event()
    draining = Drain(lambda: not idle.wait(LONG_S), drained.set, check_s=0)
    asking = Thread(target=draining.begin)
    asking.start()
    asking.join(LONG_S)
    assert not drained.is_set()
    idle.set()
    assert drained.wait(LONG_S)
