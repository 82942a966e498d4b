"""How many replicas of a given memory size a machine runs at once."""

from __future__ import annotations

REPLICA_MEMORY_BYTES = 1 << 30
"""What a trainer with a framework loaded needs at least, as a rule of thumb."""


def replicas_for(memory_bytes: int) -> int:
    """One replica for each GiB of the machine's memory, and at least one."""
    return max(1, memory_bytes // REPLICA_MEMORY_BYTES)
