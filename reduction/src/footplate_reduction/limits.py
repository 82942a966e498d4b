"""Limits of a group: timeouts, and the number of bytes in flight."""

from __future__ import annotations

from typing import NamedTuple


class Limits(NamedTuple):
    """Limits of a group, which are the same for all its workers."""

    timeout_s: float = 10.0
    """How long a link may leave data or probes unanswered."""
    patience_s: float = 1800.0
    """How long all others wait for a worker that is alive, and late."""
    budget_bytes: int = 1 << 20
    """What all workers may have on the way to one reducer's port. Best is half of what a switch
    buffers there: what is more than it buffers is lost, and what waits there comes late."""
    chunk_bytes: int = 0
    """Payload of a frame; 0: a third of the credit, and less for small vectors."""
