"""Counts out-of-memory kills in a container, and the processes that it was refused.

Podman misses kills on control groups of version 1, so the group's own counter is read: when the
program ends, before the engine removes the group.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Sequence

_FILES = ("memory.events", "memory.oom_control")
"""Of the unified hierarchy, and of version 1."""
_NAME = b"oom_kill"


class OomCounter:
    """Keeps the file open: opening it may come too late."""

    files: Sequence[str] = _FILES
    name = _NAME

    def __init__(self, groups: Sequence[str]) -> None:
        self.kills = 0
        self._descriptor = _open(groups, self.files)

    @property
    def counts(self) -> bool:
        """Whether there is a counter: no kill by it means that there was none."""
        return self._descriptor >= 0

    def read(self) -> None:
        """Keep the count as it is now; where the group is gone, the last one stays."""
        if self._descriptor < 0:
            return
        try:
            words = os.pread(self._descriptor, 4096, 0).split()
            self.kills = max(self.kills, int(words[words.index(self.name) + 1]))
        except (OSError, ValueError, IndexError):
            return


class RefusalCounter(OomCounter):
    """``kills`` is how often a process was refused at the limit of their number."""

    files = ("pids.events",)
    name = b"max"


def _open(groups: Sequence[str], names: Sequence[str]) -> int:
    for group in groups:
        for name in names:
            try:
                return os.open(os.path.join(group, name), os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                continue
    return -1
