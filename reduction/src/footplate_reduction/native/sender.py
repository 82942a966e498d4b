"""The worker's side: a thread of the C++ library sends and receives."""

from __future__ import annotations

import os
import weakref
from ctypes import c_char, c_char_p, c_uint32, c_uint64
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

from footplate_reduction import tcp_options
from footplate_reduction.chunk_plan import credit_bytes, plan
from footplate_reduction.frames import WireType
from footplate_reduction.native.library import Status, descriptors, load

if TYPE_CHECKING:
    import socket
    from ctypes import Array
    from typing import Sequence

    from footplate_reduction.frames import Op
    from footplate_reduction.limits import Limits
    from footplate_reduction.native.library import Library

_POLL_INTERVAL_MS = 200
"""How often a wait looks whether its process was interrupted."""
_ENDED = -2
_MANY = 256
_NARROW = (WireType.FLOAT16, WireType.BFLOAT16)


class Sender:
    """The worker's side of a group, for use by one thread.

    The sender owns the connections, which are authenticated and lead to all endpoints in their
    order. Collectives run in the background, in the order of the calls.
    """

    def __init__(
        self, connections: Sequence[socket.socket], rank: int, world: int, limits: Limits
    ) -> None:
        library = load()
        endpoints = len(connections)
        names = [tcp_options.address(each, peer=True).encode() for each in connections]
        self._library = library
        self._endpoints = endpoints
        self._cuts = _cuts(endpoints, world, limits)
        self._seq = 0
        self._vectors: dict[int, Any] = {}
        """The vectors that the library may still write to, by number."""
        self._handle = library.sender_open(
            descriptors(connections),
            (c_char_p * endpoints)(*names),
            endpoints,
            rank,
            world,
            limits.timeout_s,
            limits.patience_s,
            credit_bytes(limits, world, endpoints),
        )
        if not self._handle:
            raise MemoryError(library.last_failure())
        weakref.finalize(self, _close, library, self._handle, os.getpid())

    def start(
        self, vector: memoryview, held: WireType, op: Op, wire: WireType | None = None
    ) -> Pending:
        """Starts an all-reduce that replaces ``vector`` by the result.

        ``vector`` is writable, contiguous bytes with elements of the type ``held``; nobody may
        touch it until the wait is over. ``wire`` is the type as which the elements travel, if it is
        another one (BFLOAT16 or FLOAT16 for FLOAT32).
        """
        wire = held if wire is None else wire
        if wire is not held and (held is not WireType.FLOAT32 or wire not in _NARROW):
            raise ValueError(f"{held.name} can't travel as {wire.name}")
        if len(vector) % held.itemsize:
            raise ValueError(
                f"the vector has {len(vector)} bytes, which is no whole number of {held.name} "
                "elements"
            )
        nbytes = len(vector) // held.itemsize * wire.itemsize
        cut = self._cuts(nbytes, self._seq % self._endpoints)
        place = (c_char * len(vector)).from_buffer(vector)
        seq = self._library.sender_start(self._handle, place, held, wire, op, nbytes, *cut)
        if seq == _ENDED:
            raise self._library.sender_error(self._handle)
        if seq < 0:
            raise MemoryError(self._library.last_failure())
        self._seq += 1
        self._keep(seq, place)
        return Pending(self, seq)

    def wait(self, seq: int) -> None:
        status = Status.GOING_ON
        while status is Status.GOING_ON:
            status = self._status(seq, _POLL_INTERVAL_MS)
        self._vectors.pop(seq, None)
        if status is Status.LOST:
            raise self._library.sender_error(self._handle)
        if status is Status.FAILED:
            raise MemoryError(self._library.last_failure())

    def close(self, why: str | None = None) -> None:
        """Sends BYE, or ``why`` as an ERROR, and closes all connections. Repeats do nothing."""
        self._library.sender_say_bye(self._handle, why if why is None else why.encode())

    def _keep(self, seq: int, place: Any) -> None:
        self._vectors[seq] = place
        if len(self._vectors) > _MANY:  # a caller did not wait for its collective
            for each in list(self._vectors):
                if self._status(each, 0) is Status.DONE:
                    self._vectors.pop(each, None)

    def _status(self, seq: int, wait_ms: int) -> Status:
        return Status(self._library.sender_wait(self._handle, seq, wait_ms))


class Pending:
    """A collective under way."""

    def __init__(self, sender: Sender, seq: int) -> None:
        self._sender = sender
        self._seq = seq

    def wait(self) -> None:
        """Waits until the vector holds the result. Raises ReductionError if the group has ended."""
        self._sender.wait(self._seq)


class _LibraryPlan(NamedTuple):
    """A plan in the form that the library takes."""

    begins: Array[c_uint64]
    chunks: Array[c_uint32]
    """The number of chunks of each shard."""
    ends: Array[c_uint64]


def _cuts(endpoints: int, world: int, limits: Limits) -> Callable[[int, int], _LibraryPlan]:
    """Returns a function that plans a vector of a given size. Plans are cached."""

    @lru_cache(maxsize=256)
    def cut(nbytes: int, turn: int) -> _LibraryPlan:
        made = plan(nbytes, turn, endpoints, world, limits)
        shards = [list(made.chunks(index)) for index in range(endpoints)]
        ends = [offset + size for shard in shards for offset, size in shard]
        return _LibraryPlan(
            (c_uint64 * endpoints)(*(begin for begin, _ in made.shards)),
            (c_uint32 * endpoints)(*map(len, shards)),
            (c_uint64 * len(ends))(*ends),
        )

    return cut


def _close(library: Library, handle: int, process: int) -> None:
    """Closes the sender, except in a forked child.

    A child doesn't have the sender's thread, and would wait for its end for ever.
    """
    if os.getpid() == process:
        library.sender_close(handle)
