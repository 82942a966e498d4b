"""Measures how long launchers have been silent, across restarts of the server."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass

from footplate.backends.engine.attempt import Replica
from footplate.backends.engine.attempt_files import AttemptFiles
from footplate.domain.names import AttemptId

MAX_GAP_S = 15.0
"""What counts of the time between two looks at the clock: a server that stood still for longer
could not be called meanwhile.
"""
STEP_S = 30.0
"""A silence is stored when it has grown by so much. Launchers call every 20 s, so nothing is
written for one that calls.
"""
_KIND = "silence"
_Key = tuple[AttemptId, str, int]


@dataclass
class _Silence:
    contact: float
    """The time of the file that the launcher's call touched last."""
    since_s: float
    stored_s: float = 0.0


class Silences:
    """Counts the time since each launcher's last call, without the time in which no server was
    there to be called.

    A server that starts continues what the earlier one stored, unless the launcher has called
    since: so a restart of the server costs at most ``STEP_S`` of a silence, and no clock of the
    day is compared with another one.
    """

    def __init__(self, files: AttemptFiles, monotonic: Callable[[], float]) -> None:
        self._files = files
        self._monotonic = monotonic
        self._looked_s = monotonic()
        self._served_s = 0.0
        self._known: dict[_Key, _Silence] = {}
        self._mutex = threading.RLock()

    def read_clock(self) -> float:
        """Returns the seconds for which this server was there to be called."""
        with self._mutex:  # no time counts twice
            now_s = self._monotonic()
            self._served_s += min(max(0.0, now_s - self._looked_s), MAX_GAP_S)
            self._looked_s = now_s
            return self._served_s

    def measure(self, attempt_id: AttemptId, replica: Replica) -> float:
        """Returns for how many seconds the replica's launcher hasn't called."""
        with self._mutex:
            return self._measure(attempt_id, replica)

    def _measure(self, attempt_id: AttemptId, replica: Replica) -> float:
        served_s, key = self.read_clock(), (attempt_id, replica.name, replica.allocation)
        known = self._known.get(key)
        if known is None:
            before_s = self._read(attempt_id, replica)
            known = self._known[key] = _Silence(replica.contact, served_s - before_s, before_s)
        elif known.contact != replica.contact:
            known = self._known[key] = _Silence(replica.contact, served_s)
        silent_s = served_s - known.since_s
        if silent_s >= known.stored_s + STEP_S:
            known.stored_s = silent_s
            self._store(attempt_id, replica, silent_s)
        return silent_s

    def end(self, attempt_id: AttemptId, replica: Replica) -> None:
        """Ends a silence as a call does."""
        with self._mutex:
            key = (attempt_id, replica.name, replica.allocation)
            known = self._known.get(key)
            if self._read(attempt_id, replica) if known is None else known.stored_s:
                self._store(attempt_id, replica, 0.0)
            self._known[key] = _Silence(replica.contact, self.read_clock())

    def _store(self, attempt_id: AttemptId, replica: Replica, silent_s: float) -> None:
        with suppress(OSError):  # the next server then continues what was stored before
            content = {"contact": replica.contact, "silent_s": silent_s}
            self._files.keep_note(attempt_id, replica, _KIND, content)

    def _read(self, attempt_id: AttemptId, replica: Replica) -> float:
        """Returns the stored silence; 0 if the launcher has called since."""
        stored = self._files.read_note(attempt_id, replica, _KIND)
        if stored is None or stored.get("contact") != replica.contact:
            return 0.0
        return float(stored["silent_s"])

    def keep_only(self, known: Iterable[AttemptId]) -> None:
        """Forgets the launchers of all other attempts."""
        kept = frozenset(known)
        with self._mutex:
            self._known = {key: each for key, each in self._known.items() if key[0] in kept}
