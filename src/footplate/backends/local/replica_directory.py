"""The directory (HOME) of one replica, and the status of its supervisor."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from footplate.backends.local import untrusted_files
from footplate.domain.names import AttemptId

MOST_REASON_CHARACTERS = 1000


class SupervisorStatus(Enum):
    """The status of a supervisor, according to the files and locks of its HOME."""

    UNSPAWNED = "UNSPAWNED"
    """No supervisor was ever there, and none is on its way."""
    STARTING = "STARTING"
    """A supervisor was spawned; it doesn't have the lock yet."""
    LIVE = "LIVE"
    LOST = "LOST"
    """A supervisor was there, and died without clearing up."""
    GONE = "GONE"


@dataclass(frozen=True)
class Home:
    attempt_id: AttemptId
    replica: str
    path: Path
    restart: int = 0

    @property
    def log(self) -> Path:
        return self.path / "supervisor.log"

    @property
    def lock(self) -> Path:
        return self.path / "lock"

    @property
    def spawn(self) -> Path:
        return self.path / "spawn"

    @property
    def was_locked(self) -> bool:
        """Returns whether a supervisor ever took its lock."""
        return untrusted_files.exists(f"{self.path}/pid")

    # Asked of all homes in each pass: where that is, a Path would take longer than the kernel.
    def standing(self) -> SupervisorStatus:
        """Returns the status. The order of the checks matters: an earlier result must not mislead a
        later check.

        The lock is tried only once ``pid`` exists, for then no supervisor is about to take it.
        ``gone`` is trusted only while nobody holds a lock.
        """
        if self.was_locked:
            return (
                SupervisorStatus.LIVE
                if untrusted_files.is_locked(f"{self.path}/lock")
                else self._left()
            )
        if untrusted_files.is_locked(f"{self.path}/spawn"):
            return SupervisorStatus.STARTING
        return SupervisorStatus.UNSPAWNED if self.is_untouched() else self._left()

    def is_untouched(self) -> bool:
        """Returns whether no supervisor ever reached its lock, and none is kept from it."""
        return not (
            self.was_locked
            or untrusted_files.exists(f"{self.path}/lock")
            or self.gone() is not None
        )

    def _left(self) -> SupervisorStatus:
        return SupervisorStatus.LOST if self.gone() is None else SupervisorStatus.GONE

    def gone(self) -> str | None:
        """Returns why nothing is left of the replica; None if something may be left."""
        content = untrusted_files.read(f"{self.path}/gone")
        if content is None:
            return None
        try:
            reason = json.loads(content)["reason"]
        except (ValueError, KeyError, TypeError, RecursionError):
            reason = ""
        text = reason if isinstance(reason, str) else ""
        return text[:MOST_REASON_CHARACTERS] or "it ended"

    def write_gone(self, reason: str) -> None:
        """Marks a replica that never had a supervisor as gone, and keeps any supervisor from
        starting.

        Raises:
            OSError: the mark can't be written now, or a supervisor has the lock.
        """
        descriptor = untrusted_files.take_lock(self.lock)
        if descriptor is None:
            raise BlockingIOError("a running supervisor holds the lock of the replica's directory")
        try:
            fresh = self.path / ".gone"
            fresh.unlink(missing_ok=True)
            with open(fresh, "x", encoding="utf-8") as file:
                json.dump({"reason": reason}, file)
            fresh.replace(self.path / "gone")
        finally:
            os.close(descriptor)

    def pid(self) -> int | None:
        """Returns the pid that the supervisor wrote, not verified; None without a valid one."""
        content = (untrusted_files.read(self.path / "pid") or b"").strip()
        if not (content.isdigit() and len(content) < 10):
            return None
        pid = int(content)
        return pid if pid > 1 else None

    @property
    def to_stop(self) -> bool:
        return untrusted_files.exists(f"{self.path}/stop")

    def mark_stop(self) -> None:
        """Makes the replica's supervisor stop at once, even one that has yet to start.

        Raises:
            OSError: the mark can't be written now.
        """
        if not self.to_stop:
            (self.path / "stop").touch(mode=0o600)

    def last_words(self) -> str:
        """Returns the last line of the supervisor's own log."""
        lines = (
            (untrusted_files.read(self.log) or b"").decode(errors="replace").strip().splitlines()
        )
        return lines[-1][:MOST_REASON_CHARACTERS] if lines else ""
