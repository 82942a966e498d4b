"""The isolation that a service promises its programs, found by trying before any of them runs.

A service tries it when it starts, and its tickets say what came of it; on the node of an engine the
supervisor does, before it starts anything. From then on a program has all of what was promised, or
isn't started.
"""

from __future__ import annotations

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Mapping

PROCESS_NAMESPACE = "process namespace"
VIEW = "view"
USER = "user"
IMAGE_USERS = "image users"
"""What is promised, beside the limits, which ``Containment.limit`` names."""


class Promised:
    """``answer`` is what ``probe`` prints."""

    def __init__(self, answer: Mapping[str, Any]) -> None:
        self.mode = str(answer["containment_mode"])
        """The containment's mode; empty: there is none, for the last of ``reasons``."""
        self.kind = str(answer.get("kind") or "")
        """The kind of the hierarchy of control groups that kills."""
        self.reasons = [str(reason) for reason in answer["reasons"]]
        """Why stronger containment modes can't be had."""
        self._faults: Mapping[str, str] = answer["faults"]
        self._disks: Mapping[str, str] = answer.get("disks") or {}

    def fault(self, what: str) -> str:
        """Returns why ``what`` can't be had here; '' if programs have it."""
        return str(self._faults[what])

    def disk_fault(self, disk: int) -> str | None:
        """Returns why file owners can't be mapped on ``disk``; '' if they are; None: not tried."""
        return self._disks.get(str(disk))
