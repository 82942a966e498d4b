"""Passes on connections of this node's supervisors and programs to the server."""

from __future__ import annotations

import os
import select
import socket
import ssl
import threading
import time

from footplate.replica.launcher.server_link import ServerLink

_CHUNK_BYTES = 65536
_RETRY_S = 0.1
_MOST = 1000
_OTHER_DESCRIPTORS = 64
"""What the launcher needs itself: if it can't connect to report, its replica ends."""
_WANTS = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class Relay:
    """Accepts connections in a thread, and serves each in one of its own, ``most`` at a time.

    More wait: every user of the node can connect, and each connection takes two descriptors.
    """

    def __init__(self, link: ServerLink, most: int = 0) -> None:
        """Creates a relay; by default ``most`` is what the process's limit allows."""
        allowed = (os.sysconf("SC_OPEN_MAX") - _OTHER_DESCRIPTORS) // 2
        self._free = threading.Semaphore(most or min(_MOST, max(1, allowed)))
        self._link = link
        self._listener: socket.socket | None = None

    def open(self) -> int:
        """Opens the listener and returns its port."""
        listener = self._listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
        port: int = listener.getsockname()[1]
        return port

    def close(self) -> None:
        """Closes the listener; connections end with their sides, or with this process."""
        if self._listener is not None:
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
            self._listener.close()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                near, _ = listener.accept()
            except ConnectionAbortedError:
                continue
            except OSError:
                if listener.fileno() < 0:  # it is closed
                    return
                time.sleep(_RETRY_S)  # as with too many open files
                continue
            self._free.acquire()
            try:
                threading.Thread(target=self._serve, args=(near,), daemon=True).start()
            except RuntimeError:  # as many run as may: the supervisor tries again
                self._free.release()
                near.close()
                time.sleep(_RETRY_S)

    def _serve(self, near: socket.socket) -> None:
        try:
            self._join(near)
        finally:
            self._free.release()

    def _join(self, near: socket.socket) -> None:
        with near:
            try:
                far = self._link.join()
            except OSError:
                return  # as if nobody listened: the supervisor tries again
            with far:
                near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                _Pair(near, far).copy()


class _Pair:
    """Two connections, of which each gets what the other sends. ``far`` may be one over TLS."""

    def __init__(self, near: socket.socket, far: socket.socket) -> None:
        near.setblocking(False)
        far.setblocking(False)
        self._sides = near, far
        self._unsent = {near: b"", far: b""}
        """By where it goes: no more is read for a side before that has taken it."""
        self._ended: set[socket.socket] = set()
        self._reads_to_write = False
        """Whether TLS has to read before it can write."""

    def copy(self) -> None:
        """Copies until the server closes its side, or the node's side ends and can't be heard of
        over TLS, or one of them fails.
        """
        near, far = self._sides
        try:
            while True:
                moved = self._move(near, far) | self._move(far, near)
                if far in self._ended and not self._unsent[near]:
                    return
                if near in self._ended and not self._unsent[far] and not self._end_far(far):
                    return
                if not moved:
                    self._wait()
        except OSError:  # one side is gone
            return

    def _move(self, source: socket.socket, sink: socket.socket) -> bool:
        """Copies once what can be at once; returns whether that was anything."""
        moved = False
        if not self._unsent[sink] and source not in self._ended:
            try:
                data = source.recv(_CHUNK_BYTES)
            except _WANTS:
                data = None
            if data == b"":
                self._ended.add(source)
            moved = data is not None
            self._unsent[sink] = data or b""
        if self._unsent[sink]:
            try:
                sent = sink.send(self._unsent[sink])
                self._unsent[sink] = self._unsent[sink][sent:]
                moved = True
            except ssl.SSLWantReadError:
                self._reads_to_write = True
            except _WANTS:
                pass
        return moved

    def _end_far(self, far: socket.socket) -> bool:
        """Says to the server that nothing more comes; returns False if that can't be said, as
        over TLS, where the end of one direction ends the other, too.
        """
        if isinstance(far, ssl.SSLSocket):
            return False
        far.shutdown(socket.SHUT_WR)
        return True

    def _wait(self) -> None:
        poll = select.poll()
        near, far = self._sides
        for side, other in ((near, far), (far, near)):
            reads = side not in self._ended and not self._unsent[other]
            events = select.POLLIN if reads else 0
            if self._unsent[side]:
                # Only the server's side has TLS, which may have to read before it can write.
                reads_first = self._reads_to_write and side is far
                events |= select.POLLIN if reads_first else select.POLLOUT
            if events:
                poll.register(side, events)
        self._reads_to_write = False
        poll.poll()
