"""A worker as one lane of a reducer sees it: what it has sent, and what it still has to receive."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Callable, Sequence

from footplate_reduction.frames import WINDOW, FrameType, Header
from footplate_reduction.portable.frame_reader import FrameReader

if TYPE_CHECKING:
    import socket

    from footplate_reduction.portable.frame_reader import Frame

_FRAMES_AT_ONCE = 16
"""Of one worker before the others have their turn."""
_RESULTS_AT_ONCE = 16


class Peer:
    """One worker. Counts chunks from the group's first."""

    def __init__(
        self,
        connection: socket.socket,
        rank: int,
        place: Callable[[Peer, Header], memoryview],
    ) -> None:
        connection.setblocking(False)
        self.connection = connection
        self.rank = rank
        self.begun = 0
        """Chunks whose header has come."""
        self.parts: deque[memoryview] = deque()
        """Of whole chunks that aren't added yet."""
        self.kept_bytes = 0
        self.sent = 0
        """Results that it has in whole."""
        self.sent_bytes = 0
        """Of the result after these."""
        self.left = False
        self.lost = False
        self.mute = False
        """Nothing can be sent to it any more; why, its last bytes will say."""
        self._intake = FrameReader(connection, lambda header: place(self, header))

    @property
    def wants_more(self) -> bool:
        return not self.left and (self.mute or self.kept_bytes < WINDOW)

    def receive(self) -> Frame | None:
        """A frame that is no part of a chunk, after all before it. Raises as Intake does."""
        for _ in range(_FRAMES_AT_ONCE):
            if not self.wants_more:
                return None
            frame = self._intake.receive()
            if frame is None or frame.header.type is not FrameType.DATA:
                return frame
            self.parts.append(frame.payload)
            self.kept_bytes += len(frame.payload)
        return None

    def take(self) -> memoryview:
        part = self.parts.popleft()
        self.kept_bytes -= len(part)
        return part

    def send(self, results: Sequence[memoryview]) -> int:
        """Of ``results``, the first of which it may have in part. Returns how many bytes went."""
        if self.mute or not results:
            return 0
        buffers = [results[0][self.sent_bytes :], *results[1:_RESULTS_AT_ONCE]]
        try:
            count = self.connection.sendmsg(buffers)
        except (BlockingIOError, InterruptedError):
            return 0
        except OSError:  # the connection is lost
            self.mute = True
            return 0
        self._count(count, results)
        return count

    def _count(self, count: int, results: Sequence[memoryview]) -> None:
        self.sent_bytes += count
        for result in results:
            if self.sent_bytes < len(result):
                return
            self.sent_bytes -= len(result)
            self.sent += 1
