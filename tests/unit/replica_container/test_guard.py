"""The guard of a container waits as long as the container's supervisor lives."""

from __future__ import annotations

import fcntl
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate.replica.container.guard import wait_for_death


class StillWaiting(Exception):
    pass


@pytest.fixture
def impatience() -> Iterator[None]:
    """Ends what waits."""

    def end(*_: object) -> None:
        raise StillWaiting

    before = signal.signal(signal.SIGALRM, end)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def wait_impatiently(lock: int) -> None:
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    wait_for_death(lock)


@pytest.mark.usefixtures("impatience")
def test_it_waits_until_nobody_holds_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.touch()
    with path.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        waiting = os.open(path, os.O_RDONLY)
        with pytest.raises(StillWaiting):
            wait_impatiently(waiting)
    wait_for_death(os.open(path, os.O_RDONLY))
    with path.open() as again:
        fcntl.flock(again, fcntl.LOCK_EX | fcntl.LOCK_NB)
