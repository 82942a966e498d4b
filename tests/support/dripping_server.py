"""A server that never ends its answers: it sends a byte now and then, so that no read times out."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD, BODY = b"HTTP/1.1 200 OK\r\nX-Slow: ", b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"
"""What it sends at once: the rest of the head never comes, or that of the body."""
DRIP_S = 0.01


@contextmanager
def drip(begin: bytes = HEAD, path: str = "") -> Iterator[str]:
    """Yields the server's host and port; with a ``path``, it listens at that socket instead."""
    stopped = threading.Event()
    with socket.socket(socket.AF_UNIX if path else socket.AF_INET) as listener:
        listener.bind(path or ("127.0.0.1", 0))
        listener.listen()
        thread = threading.Thread(target=_serve, args=(listener, begin, stopped), daemon=True)
        thread.start()
        try:
            yield path or "{}:{}".format(*listener.getsockname())
        finally:
            stopped.set()
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def _serve(listener: socket.socket, begin: bytes, stopped: threading.Event) -> None:
    while not stopped.is_set():
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection, suppress(OSError):  # its client leaves
            connection.recv(65536)
            connection.sendall(begin)
            while not stopped.wait(DRIP_S):
                connection.sendall(b"x")
