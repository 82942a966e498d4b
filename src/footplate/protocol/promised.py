"""The isolation that a service promises its programs, found by trying before any of them runs.

A service tries it when it starts, and its tickets say what came of it; on the node of an engine the
supervisor does, before it starts anything. From then on a program has all of what was promised, or
isn't started.
"""

from __future__ import annotations

from footplate.protocol.message import Message

PROCESS_NAMESPACE = "process namespace"
VIEW = "view"
USER = "user"
IMAGE_USERS = "image users"
"""What is promised, beside the limits, which ``Containment.limit`` names."""


class Promised(Message):
    """The isolation that the supervisor's ``probe`` found; it prints this message."""

    containment_mode: str
    """Empty: there is none, for the last of ``reasons``."""
    reasons: tuple[str, ...]
    """Why stronger containment modes can't be had."""
    faults: dict[str, str]
    """Why limits and the names above can't be had; empty where they can."""
    kind: str = ""
    """Of the hierarchy of control groups that kills."""
    disks: dict[str, str] | None = None
    """Why owners of files can't be mapped there; empty where they can."""

    def fault(self, what: str) -> str:
        """Returns why ``what`` can't be had here; '' if programs have it."""
        return self.faults[what]

    def disk_fault(self, disk: int) -> str | None:
        """Returns why owners of files can't be mapped on the disk; '' if they can, None if that
        wasn't tried.
        """
        return (self.disks or {}).get(str(disk))
