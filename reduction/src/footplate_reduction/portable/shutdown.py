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

    def __init__(self, connection: socket.socket, words: list[memoryview]) -> None:
        self.connection = connection
        self.words = words
        self.heard = False

    def say(self) -> bool:
        """Whether everything is sent."""
        while self.words:
            try:
                count = self.connection.send(self.words[0])
            except (BlockingIOError, InterruptedError):
                return False
            self.words[0] = self.words[0][count:]
            if not self.words[0]:
                del self.words[0]
        self.connection.shutdown(socket.SHUT_WR)
        return True

    def receive(self) -> bool:
        """Whether the other side has ended, too."""
        try:
            rest = self.connection.recv(1 << 16)
        except (BlockingIOError, InterruptedError):
            return False
        self.heard = True
        return not rest

    def answered(self) -> bool:
        """Whether the peer's kernel has acknowledged everything."""
        if self.words:
            return False
        try:
            left = fcntl.ioctl(self.connection, termios.TIOCOUTQ, struct.pack("i", 0))
        except OSError:
            return False
        return struct.unpack("i", left) == (0,)


def part(farewells: Iterable[tuple[socket.socket, list[memoryview]]], for_s: float) -> list[bool]:
    """Says the words on each connection, and closes it when the other side has ended, too.

    A connection that is closed with bytes unread may destroy what was said on it. After ``for_s``
    all are closed anyhow. Of each: whether its other side gave any sign of life meanwhile.
    """
    partings = [_Shutdown(connection, words) for connection, words in farewells]
    with selectors.DefaultSelector() as selector:
        for each in partings:
            _begin(each, selector)
        end = time.monotonic() + for_s
        while selector.get_map() and time.monotonic() < end:
            for key, events in selector.select(max(0.0, end - time.monotonic())):
                _go_on(key.data, events, selector)
    heard = [each.heard or each.answered() for each in partings]
    for each in partings:
        each.connection.close()
    return heard


def _begin(parting: _Shutdown, selector: selectors.BaseSelector) -> None:
    try:
        parting.connection.setblocking(False)
        selector.register(parting.connection, selectors.EVENT_READ | selectors.EVENT_WRITE, parting)
    except (OSError, ValueError):
        parting.connection.close()


def _go_on(parting: _Shutdown, events: int, selector: selectors.BaseSelector) -> None:
    try:
        if events & selectors.EVENT_WRITE and parting.say():
            selector.modify(parting.connection, selectors.EVENT_READ, parting)
        if events & selectors.EVENT_READ and parting.receive():
            selector.unregister(parting.connection)
    except OSError as error:
        parting.heard = parting.heard or error.errno not in SILENCE
        selector.unregister(parting.connection)
