"""Stack traces of a job's processes, compared."""

from footplate.domain.stacks.comparison import compare
from footplate.domain.stacks.messages import describe
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
