"""Brings each HOME to where it should be, whenever something happened to it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, assert_never

from footplate.backends.local import untrusted
from footplate.backends.local.care import LOST, Care
from footplate.backends.local.home import Standing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from footplate.backends.local.exits import Exits, Watched
    from footplate.backends.local.home import Home
    from footplate.backends.local.launcher import Launcher
    from footplate.domain.names import AttemptId
    from footplate.ports.backend import Sighting

LONGEST_START_S = 1.0
LONGEST_RETRY_S = 30.0
MOST_SWEEPS = 8
"""At once: after a reboot all that had been running is lost."""
BLIND_S = 2.0
"""How often at least a supervisor is looked at whose pid isn't there or can't be trusted."""


class Keeper:
    """Not for several threads at once: its owner sees to that.

    ``tend`` may be called at any time, any number of times: what it does follows from how the
    HOME stands. What it can't bring about now, it notes down to be tended again when due.
    """

    def __init__(self, launcher: Launcher, exits: Exits, monotonic: Callable[[], float]) -> None:
        self._launcher = launcher
        self._exits = exits
        self._monotonic = monotonic
        self._cares: dict[Home, Care] = {}
        self._watched: dict[Watched, Care] = {}
        self._changed: dict[AttemptId, None] = {}

    def tend(self, home: Home, *, stop: bool = False) -> None:
        care = self._cares.setdefault(home, Care(home))
        if stop:
            care.stop_wanted = True
            care.signalled = False
        self._tend(care)

    def forget(self, home: Home) -> None:
        care = self._cares.pop(home, None)
        if care is not None and care.watched is not None:
            self._watched.pop(care.watched, None)

    def sightings(self, homes: Iterable[Home], of: AttemptId | None = None) -> tuple[Sighting, ...]:
        """Of ``homes``, and of those whose directory is gone but not their supervisor.

        ``of``: of these those of one attempt only, to which ``homes`` belong.
        """
        cares = {home: self._cares.get(home) or Care(home) for home in homes}
        for care in self._watched.values():
            if of in (None, care.home.attempt_id):
                cares[care.home] = care
        return tuple(care.sighting() for care in cares.values())

    def tend_dead(self, dead: Iterable[Watched]) -> None:
        """These processes have died."""
        for watched in dead:
            care = self._watched.pop(watched, None)
            if care is None:
                continue
            care.watched = None
            if care.sweeping:
                self._end_sweep(care)
            else:
                care.settle()
            self._tend(care)

    def _end_sweep(self, care: Care) -> None:
        care.sweeping = False
        if care.standing() is Standing.LOST:
            words = care.home.last_words()
            care.trouble = f"{LOST}; clearing up failed and is tried again: {words}"
            care.postpone(self._monotonic(), LONGEST_RETRY_S)

    def tend_due(self) -> None:
        now_s = self._monotonic()
        for care in tuple(self._cares.values()):
            if care.due_s is not None and care.due_s <= now_s:
                care.due_s = None
                self._tend(care)

    def seconds_to_due(self) -> float | None:
        """None: nothing is due before something happens."""
        due = [care.due_s for care in self._cares.values() if care.due_s is not None]
        return max(0.0, min(due) - self._monotonic()) if due else None

    def take_changed(self) -> tuple[AttemptId, ...]:
        """The attempts with a sighting that has changed since this was asked last."""
        changed = tuple(self._changed)
        self._changed.clear()
        return changed

    def _tend(self, care: Care) -> None:
        try:
            self._act(care)
        except OSError as error:
            care.trouble = f"waiting for this machine: {error.strerror or error}"
            care.postpone(self._monotonic(), LONGEST_RETRY_S)
        sighting = care.sighting()
        if care.seen is not None and sighting != care.seen:
            self._changed[care.home.attempt_id] = None
        care.seen = sighting

    def _act(self, care: Care) -> None:
        if care.watched is None and not untrusted.exists(care.home.path):
            self.forget(care.home)
            return
        standing = care.standing()
        self._mark_stop(care, standing)
        match standing:
            case Standing.UNSPAWNED:
                self._start(care)
            case Standing.STARTING:
                care.postpone(self._monotonic(), LONGEST_START_S)
            case Standing.LIVE:
                self._accompany(care)
            case Standing.LOST:
                self._sweep(care)
            case Standing.GONE:
                care.settle()
            case _:
                assert_never(standing)

    def _mark_stop(self, care: Care, standing: Standing) -> None:
        """The mark comes first; but a full disk must not keep anybody from being told."""
        if not care.stop_wanted or standing in (Standing.LOST, Standing.GONE):
            return
        try:
            care.home.mark_stop()
        except OSError:
            if standing is Standing.LIVE:
                self._accompany(care)
            raise

    def _start(self, care: Care) -> None:
        """Under the lock that a spawned supervisor inherits: there is one, or none."""
        if care.due_s is not None and not care.home.to_stop:
            return
        spawn_lock = untrusted.take_lock(care.home.spawn)
        try:
            if spawn_lock is None or not care.home.is_untouched():
                care.postpone(self._monotonic(), LONGEST_START_S)
            elif care.home.to_stop:
                care.home.write_gone("stopped before it started")
                care.settle()
            elif care.spawned:
                care.home.write_gone(_stillborn(care.home))
                care.settle()
            else:
                self._spawn(care, spawn_lock)
        finally:
            if spawn_lock is not None:
                os.close(spawn_lock)

    def _spawn(self, care: Care, spawn_lock: int) -> None:
        pid = self._launcher.run(care.home, spawn_lock)
        care.settle()
        care.spawned = True
        self._watch(care, pid)
        care.postpone(self._monotonic(), LONGEST_START_S)

    def _accompany(self, care: Care) -> None:
        """Wait for the death of the live supervisor; tell it once if it is to stop."""
        care.trouble = ""
        to_stop = care.stop_wanted or care.home.to_stop
        if to_stop and not care.signalled:
            care.signalled = self._launcher.terminate(care.home)
        self._find_supervisor(care)
        if care.watched is not None and care.signalled == to_stop:
            care.settle()
        else:
            care.postpone(self._monotonic(), BLIND_S)

    def _sweep(self, care: Care) -> None:
        if care.due_s is not None or care.sweeping or self._find_supervisor(care):
            return
        if sum(other.sweeping for other in self._cares.values()) >= MOST_SWEEPS:
            care.postpone(self._monotonic(), LONGEST_START_S)
            return
        self._watch(care, self._launcher.sweep(care.home))
        care.trouble = ""
        care.sweeping = care.watched is not None
        if not care.sweeping:
            care.postpone(self._monotonic(), LONGEST_RETRY_S)

    def _find_supervisor(self, care: Care) -> bool:
        """Watch the process that wrote its pid, if it is what it says; whether one is watched."""
        pid = care.home.pid() if care.watched is None else None
        if pid is not None and self._launcher.is_supervisor(pid, care.home):
            self._watch(care, pid)
        return care.watched is not None

    def _watch(self, care: Care, pid: int) -> None:
        """Raises:
        OSError: this process may not open any more descriptors.
        """
        care.watched = self._exits.watch(pid)
        if care.watched is not None:
            self._watched[care.watched] = care


def _stillborn(home: Home) -> str:
    words = home.last_words()
    return "its supervisor could not start" + (f": {words}" if words else "")
