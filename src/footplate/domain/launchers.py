"""The reports of launchers on an engine's nodes, and the commands in answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

LEASE_S = 600.0
"""After so long without an answer of the server a launcher ends its replica, unless its region says
another time.
"""
LEASE_MARGIN_S = 120.0
"""The time in which it has ended it, and nothing is left of it."""


class LauncherState(Enum):
    IDLE = "IDLE"
    """It has started nothing yet."""
    STARTING = "STARTING"
    LIVE = "LIVE"
    LOST = "LOST"
    """The supervisor has died; what it ran is being cleared up."""
    GONE = "GONE"


@dataclass(frozen=True)
class LauncherReport:
    """The state of the replica of one launcher."""

    incarnation: str
    """Of the launcher's process: of two that have the same token only the first is served."""
    job: str
    """The engine's id of the job that it runs in."""
    node: str
    restart: int
    """The last start of the replica that it has carried out; -1: none."""
    state: LauncherState
    reason: str = ""
    ending: str = ""
    """Why it ends whatever the server says; empty: it doesn't."""
    stopping: bool = False
    """It knows that this start is to stop."""
    boot_id: str = field(default="", compare=False)
    """The kernel's id of the boot that the launcher runs in; empty: it doesn't say it."""
    up_s: float = field(default=0.0, compare=False)
    """How long ago its node was booted."""

    @property
    def has_ended(self) -> bool:
        """Returns whether the launcher runs nothing, and will never start anything again."""
        return bool(self.ending) and self.state in (LauncherState.IDLE, LauncherState.GONE)
