"""Where the processes of a job stand, side by side."""

from footplate.domain.stacks.comparing import compare
from footplate.domain.stacks.values import (
    Comparison,
    Dump,
    Frame,
    Member,
    Missing,
    Place,
    Process,
    Report,
    Spot,
    Thread,
)
from footplate.domain.stacks.wording import describe

__all__ = [
    "Comparison",
    "Dump",
    "Frame",
    "Member",
    "Missing",
    "Place",
    "Process",
    "Report",
    "Spot",
    "Thread",
    "compare",
    "describe",
]
