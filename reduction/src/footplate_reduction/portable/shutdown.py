"""Orderly shutdown of connections: sends the last frames, with a time limit."""

from __future__ import annotations

import fcntl
import selectors
import socket
import struct
import termios
import time
from typing import Iterable

from footplate_reduction.tcp_options import SILENCE

SHUTDOWN_TIMEOUT_S = 0.5


class _Shutdown:
    """The shutdown of one connection: sends what is left, then reads to the end."""

    def __init__(self, connection: socket.socket, frames: list[memoryview]) -> None:
        self.connection = connection
        self.frames = frames
        self.responded = False

    def send(self) -> bool:
        """Whether everything is sent."""
        while self.frames:
            try:
                count = self.connection.send(self.frames[0])
            except (BlockingIOError, InterruptedError):
                return False
            self.frames[0] = self.frames[0][count:]
            if not self.frames[0]:
                del self.frames[0]
        self.connection.shutdown(socket.SHUT_WR)
        return True

    def receive(self) -> bool:
        """Whether the other side has ended, too."""
        try:
            rest = self.connection.recv(1 << 16)
        except (BlockingIOError, InterruptedError):
            return False
        self.responded = True
        return not rest

    def acknowledged(self) -> bool:
        """Whether the peer's kernel has acknowledged everything."""
        if self.frames:
            return False
        try:
            left = fcntl.ioctl(self.connection, termios.TIOCOUTQ, struct.pack("i", 0))
        except OSError:  # the connection is lost
            return False
        return struct.unpack("i", left) == (0,)


def shut_down(
    last_frames: Iterable[tuple[socket.socket, list[memoryview]]], for_s: float
) -> list[bool]:
    """Send the frames on each connection, and close it when the other side has ended, too.

    A connection that is closed with bytes unread may lose what was sent on it. After ``for_s``
    all are closed anyhow. Of each: whether its other side gave any sign of life meanwhile.
    """
    shutdowns = [_Shutdown(connection, frames) for connection, frames in last_frames]
    with selectors.DefaultSelector() as selector:
        for each in shutdowns:
            _register(each, selector)
        end = time.monotonic() + for_s
        while selector.get_map() and time.monotonic() < end:
            for key, events in selector.select(max(0.0, end - time.monotonic())):
                _advance(key.data, events, selector)
    responded = [each.responded or each.acknowledged() for each in shutdowns]
    for each in shutdowns:
        each.connection.close()
    return responded


def _register(shutdown: _Shutdown, selector: selectors.BaseSelector) -> None:
    try:
        shutdown.connection.setblocking(False)
        selector.register(
            shutdown.connection, selectors.EVENT_READ | selectors.EVENT_WRITE, shutdown
        )
    except (OSError, ValueError):  # the connection is lost
        shutdown.connection.close()


def _advance(shutdown: _Shutdown, events: int, selector: selectors.BaseSelector) -> None:
    try:
        if events & selectors.EVENT_WRITE and shutdown.send():
            selector.modify(shutdown.connection, selectors.EVENT_READ, shutdown)
        if events & selectors.EVENT_READ and shutdown.receive():
            selector.unregister(shutdown.connection)
    except OSError as error:
        shutdown.responded = shutdown.responded or error.errno not in SILENCE
        selector.unregister(shutdown.connection)
