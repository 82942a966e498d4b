"""The phase that starts what comes next once the disk has space for it."""

from __future__ import annotations

import errno

from footplate.replica import isolation_cache
from footplate.replica.disk_space import has_room
from footplate.replica.isolation.containment import Unavailable
from footplate.replica.isolation.spawn import SpawnFailed, find_errno, is_transient
from footplate.replica.phase import NEVER, Delivering, Phase, fail
from footplate.replica.program_spec import TaskError

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Callable

    from footplate.replica.context import Context

POLL_INTERVAL_S = 1.0
"""How often the disk is asked for space."""
_FULL = (errno.ENOSPC, errno.EDQUOT)
_NO_ROOM = "the disk is full: the program starts when there is space"
_ATTEMPTS = 5
"""Failures for want of something else, or of space while the disk says that it has some: then the
space is another's, such as a quota."""


class Starting(Phase):
    """The phase that waits for free space on a full disk, then goes on with ``step``.

    Between the check and the step's own writes, other processes may take the space, or memory,
    descriptors and namespaces. The step is then tried again, as long as it has started no process.
    """

    def __init__(self, context: Context, step: Callable[[], Phase]) -> None:
        """Keeps the step of starting; it may raise TaskError, SpawnFailed, Unavailable, ValueError,
        OSError.
        """
        super().__init__(context)
        self._step = step
        self._look_at = 0.0
        self._attempts = 0

    def deadline(self) -> float:
        return self._look_at or NEVER

    def advance(self) -> Phase:
        now = self.context.monotonic()
        if now < self._look_at:
            return self
        try:
            if not has_room(self.context.home.path):
                return self._wait(now, "DISK_FULL", _NO_ROOM)
            return self._step()
        except (TaskError, SpawnFailed, Unavailable, ValueError, OSError) as error:
            if self._may_pass(error):
                full = find_errno(error) in _FULL and not isinstance(error, SpawnFailed)
                again = f"the supervisor can't start the program now, and tries again: {error}"
                kind, words = ("DISK_FULL", _NO_ROOM) if full else ("PREPARING", again)
                return self._wait(now, kind, words)
            isolation_cache.forget(self.context.ticket)
            prefix = (
                ("the supervisor can't start the program: ") if isinstance(error, OSError) else ""
            )
            return fail(self.context, f"{prefix}{error}")

    def stop(self) -> Phase:
        return Delivering(
            self.context, "STOPPED", 0, "the replica was stopped before its program started"
        )

    def _wait(self, now: float, kind: str, words: str) -> Phase:
        if not self._look_at:
            self.context.journal.event(kind, words)
        self._look_at = now + POLL_INTERVAL_S
        return self

    def _may_pass(self, error: Exception) -> bool:
        """Returns whether the step failed for a temporary reason, so that it can be tried again."""
        if not is_transient(error):
            return False
        if self.context.child is not None:
            return False
        try:
            self._attempts += find_errno(error) not in _FULL or has_room(self.context.home.path)
        except OSError:  # then it fails with the reason that it has
            return False
        return self._attempts < _ATTEMPTS
