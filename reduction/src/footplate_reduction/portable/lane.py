"""One lane of a reducer for one group: receives chunks, adds them, sends results."""

from __future__ import annotations

import selectors
import time
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, Sequence

import numpy as np

from footplate_reduction import tcp_options
from footplate_reduction.errors import ReducerUnreachable, ReductionError
from footplate_reduction.frames import (
    HEADER_BYTES,
    LONGEST_CHUNK,
    LONGEST_ERROR,
    WINDOW,
    FrameType,
    Header,
)
from footplate_reduction.handshake_frames import error_frame, error_of
from footplate_reduction.portable import summation
from footplate_reduction.portable.frame_reader import Ended
from footplate_reduction.portable.peer import Peer
from footplate_reduction.portable.shutdown import SHUTDOWN_TIMEOUT_S, shut_down

if TYPE_CHECKING:
    import socket

    from footplate_reduction.counters import Counters
    from footplate_reduction.limits import Limits
    from footplate_reduction.portable.frame_reader import Frame


class _Chunk(NamedTuple):
    """The description of a chunk, from the first worker that sent a part of it."""

    header: Header
    arrived: float


class Lane:
    """Serves until all workers have left, or one is lost."""

    def __init__(
        self,
        connections: Sequence[socket.socket],
        limits: Limits,
        counters: Counters,
        ending: int,
    ) -> None:
        self._peers = [Peer(each, rank, self._place) for rank, each in enumerate(connections)]
        self._limits = limits
        self._counters = counters
        self._ending = ending
        self._selector = selectors.DefaultSelector()
        self._interest: dict[Peer, int] = {}
        self._chunks: deque[_Chunk] = deque()
        """Begun by some and not added yet; the first is number ``_added``."""
        self._added = 0
        self._added_at = time.monotonic()
        self._results: deque[memoryview] = deque()
        """Whole frames that some worker still is to get; the first is number ``_given``."""
        self._given = 0
        self._backlog_bytes = 0
        self._seq: int | None = None

    def run(self) -> None:
        """As ``Engine.serve``."""
        try:
            with self._selector:
                self._selector.register(self._ending, selectors.EVENT_READ)
                self._serve()
        except ReductionError as error:
            self._notify(error)
            raise
        finally:
            for peer in self._peers:
                peer.connection.close()

    def _serve(self) -> None:
        while not all(peer.left for peer in self._peers):
            self._look()
            for key, events in self._wait():
                if key.data is None:
                    here = tcp_options.address(self._peers[0].connection, peer=False)
                    raise ReductionError(f"reducer {here} was told to end")
                if events & selectors.EVENT_READ:
                    self._receive(key.data)
            self._pass_on()
            self._check_leavers()

    # Waiting

    def _look(self) -> None:
        """Asks for what each worker is ready to be read or sent to."""
        for peer in self._peers:
            reading = selectors.EVENT_READ if peer.wants_more else 0
            owed = not peer.mute and not peer.left and peer.sent < self._added
            wanted = reading | (selectors.EVENT_WRITE if owed else 0)
            has = self._interest.get(peer, 0)
            if wanted and has and wanted != has:
                self._selector.modify(peer.connection, wanted, peer)
            elif wanted and not has:
                self._selector.register(peer.connection, wanted, peer)
            elif has and not wanted:
                self._selector.unregister(peer.connection)
            self._interest[peer] = wanted

    def _wait(self) -> list[tuple[selectors.SelectorKey, int]]:
        began = time.monotonic()
        late = self._missing()
        wait_s = None
        if late:
            since = max(self._chunks[0].arrived, self._added_at)
            wait_s = since + self._limits.patience_s - began
            if wait_s <= 0:
                raise self._lateness(late)
        ready = self._selector.select(wait_s)
        if late:
            self._counters.waiting_s += time.monotonic() - began
        return ready

    def _missing(self) -> list[int]:
        """Ranks whose part of the next chunk isn't here, where another's is under way."""
        if not self._chunks:
            return []
        return [peer.rank for peer in self._peers if not peer.parts]

    def _lateness(self, late: list[int]) -> ReductionError:
        who = "worker" if len(late) == 1 else "workers"
        names = ", ".join(str(rank) for rank in late[:16]) + (", ..." if late[16:] else "")
        template = "{} {} sent no part of collective {} within {:g} s of the others"
        seq = self._chunks[0].header.seq
        return ReductionError(template.format(who, names, seq, self._limits.patience_s), late[0])

    # Reading

    def _receive(self, peer: Peer) -> None:
        if peer.left:
            return
        try:
            frame = peer.receive()
        except Ended:
            raise self._lost(peer) from None
        except OSError as error:
            raise self._lost(peer, error) from error
        except ValueError as error:
            template = "worker {} sent what no worker may: {}"
            raise ReductionError(template.format(peer.rank, error), peer.rank) from None
        if frame is not None:
            self._heed(peer, frame)

    def _heed(self, peer: Peer, frame: Frame) -> None:
        if frame.header.type is FrameType.ERROR:
            error = error_of(frame.header, frame.payload)
            known = error.culprit is None or error.culprit < len(self._peers)
            peer.lost = True
            raise error if known else ReductionError(str(error), peer.rank)
        if peer.parts or peer.sent < self._added:
            raise self._gone(peer)
        peer.left = True
        self._selector.unregister(peer.connection)
        self._interest[peer] = 0
        peer.connection.close()

    def _place(self, peer: Peer, header: Header) -> memoryview:
        """Raises ValueError for a header that doesn't fit, ReductionError where workers differ."""
        if header.rank != peer.rank and header.type is not FrameType.ERROR:
            raise ValueError(f"rank {header.rank} in a frame's header")
        if header.type is FrameType.DATA:
            self._begin(peer, header)
        elif header.type is FrameType.ERROR:
            _expect(header.nbytes <= LONGEST_ERROR, "an ERROR that is too long")
        else:
            _expect(header.type is FrameType.BYE, "a frame of type " + header.type.name)
            _expect(not header.nbytes, "a BYE with a payload")
        return np.empty(header.nbytes, np.uint8).data

    def _begin(self, peer: Peer, header: Header) -> None:
        fits = 0 < header.nbytes <= LONGEST_CHUNK and not header.nbytes % header.wire.itemsize
        _expect(fits, f"a chunk of {header.nbytes} bytes of {header.wire.name}")
        place = peer.begun - self._added
        if place == len(self._chunks):
            self._chunks.append(_Chunk(header, time.monotonic()))
        first = self._chunks[place].header
        if header._replace(rank=first.rank) != first:
            template = "workers disagree: worker {} sends {}, and worker {} sends {}"
            raise ReductionError(
                template.format(first.rank, _described(first), header.rank, _described(header))
            )
        peer.begun += 1

    # Adding and answering

    def _pass_on(self) -> None:
        """Forwards all results that are complete before the lane ends."""
        while True:
            while self._can_add():
                self._add_chunk(self._chunks.popleft().header)
            for peer in self._peers:
                self._answer(peer)
            self._forget_results()
            if not self._can_add():
                return

    def _can_add(self) -> bool:
        return bool(self._chunks) and self._backlog_bytes < WINDOW and not self._missing()

    def _add_chunk(self, header: Header) -> None:
        result = np.empty(HEADER_BYTES + header.nbytes, np.uint8)
        packed = header._replace(type=FrameType.RESULT, rank=0).pack()
        result[:HEADER_BYTES] = np.frombuffer(packed, np.uint8)
        parts = [np.frombuffer(peer.take(), np.uint8) for peer in self._peers]
        began = time.monotonic()
        summation.add(parts, header.wire, header.op, result[HEADER_BYTES:])
        self._added_at = time.monotonic()
        self._count(header, self._added_at - began)
        self._results.append(result.data)
        self._backlog_bytes += len(result)
        self._added += 1

    def _count(self, header: Header, adding_s: float) -> None:
        self._counters.adding_s += adding_s
        self._counters.received_bytes += header.nbytes * len(self._peers)
        if header.seq != self._seq:
            self._counters.collectives += 1
        self._seq = header.seq

    def _answer(self, peer: Peer) -> None:
        while not peer.left and peer.sent < self._added:
            owed = list(islice(self._results, peer.sent - self._given, None))
            count = peer.send(owed)
            self._counters.sent_bytes += count
            if not count:
                return

    def _forget_results(self) -> None:
        had = min(peer.sent for peer in self._peers)
        while self._given < had:
            self._backlog_bytes -= len(self._results.popleft())
            self._given += 1

    # Ends

    def _check_leavers(self) -> None:
        for peer in self._peers:
            if peer.left and self._chunks and not peer.parts:
                raise self._gone(peer)

    def _gone(self, peer: Peer) -> ReductionError:
        template = "worker {} left at collective {}, in which others wait for it"
        return ReductionError(template.format(peer.rank, self._at()), peer.rank)

    def _lost(self, peer: Peer, why: OSError | None = None) -> ReductionError:
        peer.lost = True
        silent = why is not None and why.errno in tcp_options.SILENCE
        how = f"; nothing was heard of it for {self._limits.timeout_s:g} s"
        template = "worker {} was lost at collective {}{}"
        message = template.format(peer.rank, self._at(), how if silent else "")
        return (
            _HeartbeatTimeout(message, peer.rank) if silent else ReductionError(message, peer.rank)
        )

    def _at(self) -> int:
        """The collective in progress, else the last one."""
        return self._chunks[0].header.seq if self._chunks else self._seq or 0

    def _notify(self, error: ReductionError) -> None:
        """Raises ReducerUnreachable if no worker could be notified."""
        silent = isinstance(error, _HeartbeatTimeout)
        frame = error_frame(str(error), error.culprit)
        remaining = [peer for peer in self._peers if not peer.left and not peer.lost]
        last_frames = [
            (peer.connection, [*self._rest(peer), memoryview(frame)]) for peer in remaining
        ]
        responded = shut_down(last_frames, self._limits.timeout_s if silent else SHUTDOWN_TIMEOUT_S)
        if silent and not any(responded) and not any(peer.left for peer in self._peers):
            raise ReducerUnreachable("no worker of the group answers; the first: " + str(error))

    def _rest(self, peer: Peer) -> list[memoryview]:
        """Of the frame that it has in part."""
        if not peer.sent_bytes:
            return []
        return [self._results[peer.sent - self._given][peer.sent_bytes :]]


class _HeartbeatTimeout(ReductionError):
    """A worker is lost without a word of its host."""


def _expect(right: bool, what: str) -> None:  # noqa: FBT001 - a condition
    if not right:
        raise ValueError(what)


def _described(header: Header) -> str:
    wire, op = header.wire.name.lower(), header.op.name.lower()
    return (
        f"{header.nbytes} bytes at {header.offset} of {header.total} elements of {wire} ({op}) "
        f"in collective {header.seq}"
    )
