"""Splits a vector into chunks and assigns them to lanes, with a limit on bytes in flight.

Pure, and a function of what all workers have in common: so each makes the same plan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterator, NamedTuple, Tuple

from footplate_reduction.frames import LONGEST_CHUNK, WINDOW

if TYPE_CHECKING:
    from footplate_reduction.limits import Limits

ALIGNMENT = 64
"""Shards and chunks begin at multiples of it: whole elements of every type, and cache lines."""
MIN_CREDIT = 8 << 10
MIN_CHUNK = 4 << 10
_CHUNKS_OF_A_CREDIT = 3
_CHUNKS_OF_A_SHARD = 16
"""A shard in fewer pieces fills its pipeline for too great a part of its time."""

Shard = Tuple[int, int]
"""Begin and end, in bytes of the vector on the wire."""


class Plan(NamedTuple):
    chunk_bytes: int
    shards: tuple[Shard, ...]
    """One for each endpoint; many may be empty."""

    def chunks(self, endpoint: int) -> Iterator[tuple[int, int]]:
        """Yields offset and size of each chunk, in the order in which all workers send them."""
        begin, end = self.shards[endpoint]
        for offset in range(begin, end, self.chunk_bytes):
            yield offset, min(self.chunk_bytes, end - offset)


def plan(nbytes: int, seq: int, endpoints: int, world: int, limits: Limits) -> Plan:
    """Returns the plan for a vector of ``nbytes`` on the wire.

    A small vector goes to one endpoint; the sequence number ``seq`` makes such vectors take the
    endpoints in turn.
    """
    chunk = _chunk_bytes(nbytes, endpoints, world, limits)
    if nbytes <= chunk:
        return Plan(chunk, _whole(nbytes, seq % endpoints, endpoints))
    return Plan(chunk, _equal(nbytes, endpoints))


def credit_bytes(limits: Limits, world: int, endpoints: int) -> int:
    """Returns the most bytes that a connection may have sent without an answer.

    The credit of all workers meets at a reducer's switch port, and that of all endpoints at a
    worker's.
    """
    share = limits.budget_bytes // max(world, endpoints)
    return max(MIN_CREDIT, min(share, WINDOW))


def _chunk_bytes(nbytes: int, endpoints: int, world: int, limits: Limits) -> int:
    credit = credit_bytes(limits, world, endpoints)
    if limits.chunk_bytes:
        wanted = limits.chunk_bytes
    else:
        fine = max(MIN_CHUNK, nbytes // endpoints // _CHUNKS_OF_A_SHARD)
        wanted = min(max(MIN_CHUNK, credit // _CHUNKS_OF_A_CREDIT), fine)
    within = min(wanted, credit, LONGEST_CHUNK)
    return max(ALIGNMENT, within // ALIGNMENT * ALIGNMENT)


def _whole(nbytes: int, owner: int, endpoints: int) -> tuple[Shard, ...]:
    return tuple((0, nbytes) if i == owner else (0, 0) for i in range(endpoints))


def _equal(nbytes: int, endpoints: int) -> tuple[Shard, ...]:
    seams = -(-nbytes // ALIGNMENT)
    cuts = [min(nbytes, seams * i // endpoints * ALIGNMENT) for i in range(endpoints + 1)]
    return tuple(zip(cuts, cuts[1:]))
