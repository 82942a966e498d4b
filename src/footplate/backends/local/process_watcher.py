"""Waits for the exit of many processes, whether children or not, without polling where possible.

Linux reports it through process descriptors; on kernels before 5.3 each process is checked once a
second.
"""

from __future__ import annotations

import os
import select
import threading
from contextlib import suppress
from itertools import count
from typing import NewType, Protocol

Watched = NewType("Watched", int)
"""One process being watched; never used twice, as pids are."""

POLL_INTERVAL_S = 1.0


class ProcessWatcher(Protocol):
    """Watches processes for their end. Only one thread may call ``wait``; any may call the rest."""

    def watch(self, pid: int) -> Watched | None:
        """Starts watching the process; returns None if it doesn't exist any more."""
        ...

    def wait(self, timeout_s: float | None) -> tuple[Watched, ...]:
        """Waits for processes to end; returns each once (or none), reaped if it is a child."""
        ...

    def wake(self) -> None:
        """Makes ``wait`` return at once."""
        ...

    def close(self) -> None: ...


def make_process_watcher() -> ProcessWatcher:
    """Returns the best watcher for this machine."""
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError:  # polling needs no descriptors
        return PollingWatcher()
    return PidfdWatcher()


class WakeupPipe:
    """A pipe that wakes a thread waiting on ``reader``."""

    def __init__(self) -> None:
        self.reader, self._writer = os.pipe()
        os.set_blocking(self.reader, False)
        os.set_blocking(self._writer, False)

    def trigger(self) -> None:
        try:
            os.write(self._writer, b"!")
        except BlockingIOError:
            return  # full of wakeups that were not read yet

    def silence(self) -> None:
        try:
            while os.read(self.reader, 4096):
                pass
        except BlockingIOError:
            return

    def close(self) -> None:
        os.close(self.reader)
        os.close(self._writer)


class PidfdWatcher:
    def __init__(self) -> None:
        self._wakeup = WakeupPipe()
        self._numbers = count(1)
        self._watched: dict[int, Watched] = {}
        self._poll = select.epoll()
        self._poll.register(self._wakeup.reader, select.EPOLLIN)

    def watch(self, pid: int) -> Watched | None:
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            return None
        watched = self._watched[descriptor] = Watched(next(self._numbers))
        self._poll.register(descriptor, select.EPOLLIN)
        return watched

    def wait(self, timeout_s: float | None) -> tuple[Watched, ...]:
        dead = []
        for descriptor, _ in self._poll.poll(timeout_s):
            if descriptor == self._wakeup.reader:
                self._wakeup.silence()
            else:
                dead.append(self._take(descriptor))
        return tuple(dead)

    def _take(self, descriptor: int) -> Watched:
        watched = self._watched.pop(descriptor)
        self._poll.unregister(descriptor)
        try:
            os.waitid(os.P_PIDFD, descriptor, os.WEXITED | os.WNOHANG)
        except ChildProcessError:
            pass  # of an earlier server: its reaper is another
        finally:
            os.close(descriptor)
        return watched

    def wake(self) -> None:
        self._wakeup.trigger()

    def close(self) -> None:
        self._poll.close()
        self._wakeup.close()
        if self._watched:
            left = tuple(self._watched)
            threading.Thread(target=_see_off, args=(left,), name="reaper", daemon=True).start()


def _see_off(descriptors: tuple[int, ...]) -> None:
    """Reaps children of this process after their end, when they aren't watched any more."""
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    left = len(descriptors)
    while left:
        for descriptor, _ in poll.poll():
            poll.unregister(descriptor)
            with suppress(ChildProcessError):
                os.waitid(os.P_PIDFD, descriptor, os.WEXITED | os.WNOHANG)
            os.close(descriptor)
            left -= 1


class PollingWatcher:
    """Checks each process once a second."""

    def __init__(self, period_s: float = POLL_INTERVAL_S) -> None:
        self._period_s = period_s
        self._wakeup = WakeupPipe()
        self._numbers = count(1)
        self._watched: dict[int, Watched] = {}

    def watch(self, pid: int) -> Watched | None:
        if not _is_there(pid):
            return None
        watched = self._watched[pid] = Watched(next(self._numbers))
        return watched

    def wait(self, timeout_s: float | None) -> tuple[Watched, ...]:
        dead = self._dead()
        if dead:
            return dead
        if self._watched:
            timeout_s = self._period_s if timeout_s is None else min(timeout_s, self._period_s)
        if select.select([self._wakeup.reader], [], [], timeout_s)[0]:
            self._wakeup.silence()
        return self._dead()

    def _dead(self) -> tuple[Watched, ...]:
        pids = [pid for pid in tuple(self._watched) if not _is_there(pid)]
        return tuple(self._watched.pop(pid) for pid in pids)

    def wake(self) -> None:
        self._wakeup.trigger()

    def close(self) -> None:
        self._wakeup.close()


def _is_there(pid: int) -> bool:
    _reap(pid)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _reap(pid: int) -> None:
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return
