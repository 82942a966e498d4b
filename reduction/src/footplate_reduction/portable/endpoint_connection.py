"""A worker's connection to one endpoint: sends chunks as credit allows, receives results."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Iterator, NamedTuple

from footplate_reduction import tcp_options
from footplate_reduction.errors import ReductionError
from footplate_reduction.frames import LONGEST_ERROR, FrameType, Header
from footplate_reduction.handshake_frames import error_of
from footplate_reduction.portable.frame_reader import Ended, FrameReader

if TYPE_CHECKING:
    import socket

    from footplate_reduction.portable.collective import Collective


class _Sent(NamedTuple):
    collective: Collective
    header: Header
    at: float


class EndpointConnection:
    """Raises ReductionError from every method that touches the connection, when that is lost."""

    def __init__(self, connection: socket.socket, rank: int, credit: int) -> None:
        connection.setblocking(False)
        self.connection = connection
        self.reducer = tcp_options.address(connection, peer=True)
        self._rank = rank
        self._credit = credit
        self._coming: deque[tuple[Collective, Iterator[tuple[int, int]]]] = deque()
        self._next: tuple[Collective, int, int] | None = None
        self._words: list[memoryview] = []
        """Of the frame that is being sent."""
        self._begun = False
        """Whether some of it was."""
        self._mute = False
        self._sent: deque[_Sent] = deque()
        self._unanswered = 0
        self._answered_at = 0.0
        self._intake = FrameReader(connection, self._place)

    def push(self, collective: Collective, chunks: Iterator[tuple[int, int]]) -> None:
        self._coming.append((collective, chunks))

    def send(self) -> bool:
        """As much as credit and socket take. Returns whether it is the socket that is full."""
        while not self._mute and (self._words or self._load()):
            try:
                count = self.connection.sendmsg(self._words)
            except (BlockingIOError, InterruptedError):
                return True
            except OSError:  # why, its last bytes will say
                self._mute = True
                return False
            self._drop(count)
        return False

    def receive(self) -> None:
        try:
            while True:
                frame = self._intake.receive()
                if frame is None:
                    return
                if frame.header.type is FrameType.ERROR:
                    raise error_of(frame.header, frame.payload)
                self._land(frame.payload)
        except (Ended, OSError, ValueError) as error:
            raise self._lost(error) from None

    def overdue(self, patience_s: float) -> float | None:
        """Seconds until an answer is, or since it has been (negative); none: nothing is awaited."""
        if not self._sent:
            return None
        return max(self._sent[0].at, self._answered_at) + patience_s - time.monotonic()

    def stuck(self, patience_s: float) -> ReductionError:
        message = "reducer {} gave no answer in collective {} within {:g} s"
        return ReductionError(message.format(self.reducer, self._sent[0].header.seq, patience_s))

    def rest(self) -> list[memoryview]:
        """Of a frame that was sent in part: what must follow before anything else may."""
        return list(self._words) if self._begun else []

    def _load(self) -> bool:
        chunk = self._next or self._following()
        if chunk is None:
            return False
        collective, offset, nbytes = chunk
        self._next = chunk
        if self._unanswered and self._unanswered + nbytes > self._credit:
            return False
        self._next = None
        header = Header(
            FrameType.DATA,
            collective.wire,
            collective.op,
            collective.seq,
            nbytes,
            offset,
            self._rank,
            collective.length & 0xFFFFFFFF,
        )
        self._words = [memoryview(header.pack()), collective.part(offset, nbytes)]
        self._sent.append(_Sent(collective, header, time.monotonic()))
        self._unanswered += nbytes
        return True

    def _following(self) -> tuple[Collective, int, int] | None:
        while self._coming:
            collective, chunks = self._coming[0]
            for offset, nbytes in chunks:
                return collective, offset, nbytes
            self._coming.popleft()
        return None

    def _drop(self, count: int) -> None:
        self._begun = True
        while self._words and count >= len(self._words[0]):
            count -= len(self._words.pop(0))
        if self._words:
            self._words[0] = self._words[0][count:]
        else:
            self._begun = False

    def _place(self, header: Header) -> memoryview:
        if header.type is FrameType.ERROR and header.nbytes <= LONGEST_ERROR:
            return memoryview(bytearray(header.nbytes))
        awaited = self._sent[0] if self._sent else None
        if awaited is None or header != awaited.header._replace(type=FrameType.RESULT, rank=0):
            raise ValueError("it sent what was not asked of it")
        return awaited.collective.place(header.offset, header.nbytes)

    def _land(self, payload: memoryview) -> None:
        answered = self._sent.popleft()
        self._unanswered -= len(payload)
        self._answered_at = time.monotonic()
        answered.collective.land(answered.header.offset, payload)

    def _lost(self, error: Exception) -> ReductionError:
        how = ""
        if isinstance(error, OSError) and error.errno in tcp_options.SILENCE:
            how = "; nothing was heard of it, or this host is cut off"
        elif isinstance(error, ValueError):
            how = "; " + str(error)
        where = f" in collective {self._sent[0].header.seq}" if self._sent else ""
        return ReductionError(f"reducer {self.reducer} was lost{where}{how}")
