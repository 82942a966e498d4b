"""Locks of the environment cache: exclusive for builders, shared for users.

They are the kernel's: a process that dies, however, has none any more. Beside each environment
lies the file that is locked; when it was touched last says when the environment was used last.
"""

from __future__ import annotations

import fcntl
import os
import re

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Callable, Sequence

MARKER = "complete.json"
"""Lies in every environment that is finished, and in no other."""
_USE = re.compile(r"(?:runtimes|layers)/[0-9a-f]{32}")
_MOST_USES = 8
_LONGEST_OWNER_BYTES = 512


def open_lock(environment: str) -> int:
    """Opens the lock file of the environment at this path, creating it if needed.

    Raises OSError.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    return os.open(f"{environment}.lock", flags, 0o600)


def try_alone(descriptor: int) -> bool:
    """Tries to take the exclusive lock, returns whether it did; else a shared one held is lost."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def share(descriptor: int, wait: Callable[[], None] = lambda: None) -> None:
    """Takes a shared lock; calls ``wait`` before it waits for a process that builds or removes."""
    if not _try_share(descriptor):
        wait()
        fcntl.flock(descriptor, fcntl.LOCK_SH)


def _try_share(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def sign(descriptor: int, owner: str) -> None:
    """Writes down that ``owner`` builds, for processes that wait. Ignores a failure to write."""
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, owner.encode()[:_LONGEST_OWNER_BYTES], 0)
    except OSError:  # the name is shown to those who wait, no more
        return


def is_signed(descriptor: int, owner: str) -> bool:
    """Returns whether ``owner`` builds; False if ``owner`` is empty."""
    try:
        found = os.pread(descriptor, _LONGEST_OWNER_BYTES, 0)
    except OSError:  # then it is waited for
        return False
    return bool(owner) and found == owner.encode()[:_LONGEST_OWNER_BYTES]


def release(descriptor: int) -> None:
    fcntl.flock(descriptor, fcntl.LOCK_UN)


def touch(descriptor: int) -> None:
    """Writes down that the environment is used now. Ignores a failure to write."""
    try:
        os.utime(descriptor)
    except OSError:  # as said above
        return


class Leases:
    """The locks that keep the environments of one replica's program from removal while this process
    lives.
    """

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held: list[int] = []

    def take(self, cache: str, uses: Sequence[str]) -> bool:
        """Holds environments of ``cache``, named like ``layers/KEY``, and nothing else.

        Whether all are there: one may have been removed since it was named, or just be removed;
        then none is held, for who makes it again wants its lock alone.

        Raises:
            OSError: the cache can't be used.
            ValueError: such a name is none.
        """
        self.end()
        for use in uses:
            if not _USE.fullmatch(use) or len(uses) > _MOST_USES:
                raise ValueError(f"{use[:200]!r} names no environment")
            path = os.path.join(cache, use)
            try:
                descriptor = open_lock(path)
            except FileNotFoundError:  # the whole cache was deleted
                self.end()
                return False
            self._held.append(descriptor)
            if not _try_share(descriptor) or not os.path.exists(os.path.join(path, MARKER)):
                self.end()
                return False
        return True

    def end(self) -> None:
        """Releases all environments, and notes that they were in use until now."""
        while self._held:
            descriptor = self._held.pop()
            touch(descriptor)
            os.close(descriptor)
