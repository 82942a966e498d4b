"""Reads frames from a non-blocking socket."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, NamedTuple

from footplate_reduction.frames import HEADER_BYTES, Header

if TYPE_CHECKING:
    import socket


class Frame(NamedTuple):
    header: Header
    payload: memoryview


class Ended(Exception):
    """The other side has sent all that it will."""


class FrameReader:
    """One connection's bytes.

    ``place`` is asked, for each header that came, where its payload goes: writable bytes of its
    size. It raises ValueError for a header that may not come; nothing of its payload is read.
    """

    def __init__(self, connection: socket.socket, place: Callable[[Header], memoryview]) -> None:
        self._connection = connection
        self._place = place
        self._packed = memoryview(bytearray(HEADER_BYTES))
        self._header: Header | None = None
        self._payload = memoryview(b"")
        self._missing = self._packed

    def receive(self) -> Frame | None:
        """The next frame; none: its bytes aren't all here yet.

        Raises Ended at the end, OSError when the connection is lost, ValueError for what is no
        frame or may not come.
        """
        while True:
            if not self._fill():
                return None
            if self._header is not None:
                return self._whole(self._header)
            header = Header.unpack(self._packed)
            self._payload = self._missing = self._place(header)
            self._header = header

    def _fill(self) -> bool:
        while self._missing:
            try:
                count = self._connection.recv_into(self._missing)
            except (BlockingIOError, InterruptedError):
                return False
            if not count:
                raise Ended
            self._missing = self._missing[count:]
        return True

    def _whole(self, header: Header) -> Frame:
        frame = Frame(header, self._payload)
        self._header, self._missing = None, self._packed
        return frame
