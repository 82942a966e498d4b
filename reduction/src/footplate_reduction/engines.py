"""The interface of an engine, which moves and adds bytes.

Two exist: ``portable`` and ``native``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import socket
    from typing import Sequence

    from footplate_reduction.counters import Counters
    from footplate_reduction.frames import Op, WireType
    from footplate_reduction.limits import Limits


class Pending(Protocol):
    """A collective under way."""

    def wait(self) -> None:
        """Until the vector holds the result. Raises ReductionError; the group has ended then."""


class Sender(Protocol):
    """The worker's side, on authenticated connections to all endpoints, in their order.

    One thread calls it; what it starts goes on by itself, in the order of the calls.
    """

    def start(
        self, vector: memoryview, held: WireType, op: Op, wire: WireType | None = None
    ) -> Pending:
        """All-reduce in place. ``vector`` is writable, contiguous bytes of elements of the type
        ``held``, and nobody touches it until the wait is over.

        ``wire``: as what they travel, if that is something else (BFLOAT16 or FLOAT16 for FLOAT32).
        """

    def close(self, why: str | None = None) -> None:
        """Say BYE on all connections, or ``why`` as an ERROR, and close them. Twice: nothing."""


class Engine(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def detail(self) -> str:
        """What it adds with, for people: ``AVX2``, ``NumPy 2.4.6``."""

    def sender(
        self, connections: Sequence[socket.socket], rank: int, world: int, limits: Limits
    ) -> Sender:
        """Connections are the engine's from here on."""

    def serve(
        self,
        connections: Sequence[socket.socket],
        limits: Limits,
        counters: Counters,
        ending: int,
    ) -> None:
        """A lane of a reducer for one group: connections in the order of ranks, authenticated.

        Blocks until all workers have left with BYE; closes the connections. Raises
        ReductionError when a loss has ended the group, after all workers were told; CutOff when
        none of them could be told.

        ``ending`` is a descriptor that becomes readable when the reducer is to end, and is never
        read from: all lanes share it.
        """
