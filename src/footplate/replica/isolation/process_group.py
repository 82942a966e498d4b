"""Containment mode ``best-effort``: the program leads a process group.

Guarantee: the group is killed. Children that left it (setsid) are not claimed. After the
supervisor's death those of the group are found that have the mark in their environment.
Being out of memory isn't recognised.
"""

from __future__ import annotations

import os
import signal

from footplate.replica.isolation import levels
from footplate.replica.isolation.containment import Child, Containment

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from footplate.replica.isolation.mount_namespace import MountNamespace
    from footplate.replica.isolation.spawn import Launch


class ProcessGroupContainment(Containment):
    level = levels.BEST_EFFORT

    def __init__(self) -> None:
        self._child: Child | None = None

    def start(self, launch: Launch, view: MountNamespace | None) -> Child:
        self._child = super().start(launch, view)
        return self._child

    def kill(self) -> bool:
        """Kills the group before its leader is reaped, so that the group's number isn't
        another's.
        """
        if self._child is not None:
            try:
                os.killpg(self._child.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                return True
        return True
