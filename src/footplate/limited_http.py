"""HTTP answers with a limit on the time of a whole exchange, for clients made of http.client.

A socket's timeout begins anew with each byte: a host that sends one now and then, also of an
answer's head, would hold its thread for ever.
"""

from __future__ import annotations

import io
import time
from functools import partial
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    UnknownHandler,
)

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    import socket
    from typing import Any
    from urllib.request import Request

LIMIT_S = 60.0
RATE_BYTES_S = 65536
"""Each so many bytes give an answer a second more."""


class Deadline:
    """The moment at which an exchange must be over; bytes that come move it if there is a rate."""

    def __init__(self, limit_s: float = LIMIT_S, rate_bytes_s: float = 0.0) -> None:
        self._limit_s = limit_s
        self._rate_bytes_s = rate_bytes_s
        self._end_s = time.monotonic() + limit_s

    def cut(self, timeout_s: float | None) -> float:
        """Returns the timeout for the next step. Raises TimeoutError if the exchange is late."""
        left_s = self._end_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError(f"the whole answer took longer than {self._limit_s:g} s")
        return left_s if timeout_s is None else min(timeout_s, left_s)

    def note(self, received_bytes: int) -> None:
        if self._rate_bytes_s:
            self._end_s += received_bytes / self._rate_bytes_s


class LimitedResponse(HTTPResponse):
    """An answer that must come, with its body, until its deadline."""

    def __init__(
        self, sock: socket.socket, *args: Any, deadline: Deadline | None = None, **kwargs: Any
    ) -> None:
        super().__init__(sock, *args, **kwargs)
        limit = Deadline(LIMIT_S, RATE_BYTES_S) if deadline is None else deadline
        self.fp.close()
        self.fp = io.BufferedReader(_Reader(sock, limit))


class _Reader(io.RawIOBase):
    """The bytes of a socket. Keeps it open as its own file does, until it is closed."""

    def __init__(self, sock: socket.socket, deadline: Deadline) -> None:
        super().__init__()
        self._socket = sock
        self._file: Any = sock.makefile("rb", buffering=0)
        self._timeout_s = sock.gettimeout()
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._socket.settimeout(self._deadline.cut(self._timeout_s))
        try:
            count: int | None = self._file.readinto(buffer)
        except OSError:
            self._deadline.cut(None)  # says that the whole took too long, if it did
            raise
        self._deadline.note(count or 0)
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


def open_url(request: Request, timeout_s: float, limit_s: float = LIMIT_S) -> Any:
    """Does what ``urlopen`` does, but the whole exchange with its redirections has ``limit_s``.

    ``timeout_s`` limits each step of it. Raises as ``urlopen`` does.
    """
    deadline, opener = Deadline(limit_s), OpenerDirector()
    for handler in (
        *(ProxyHandler(), UnknownHandler(), HTTPDefaultErrorHandler(), HTTPErrorProcessor()),
        # No handler for FTP, which has no such limit: hosts may redirect to it.
        *(HTTPRedirectHandler(), _HttpHandler(deadline), _HttpsHandler(deadline)),
    ):
        opener.add_handler(handler)
    return opener.open(request, timeout=timeout_s)


def _limit(connection: HTTPConnection, deadline: Deadline) -> HTTPConnection:
    connection.timeout = deadline.cut(connection.timeout)
    connection.response_class = partial(LimitedResponse, deadline=deadline)  # type: ignore[assignment]  # it makes one
    return connection


class _HttpHandler(HTTPHandler):
    def __init__(self, deadline: Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def http_open(self, req: Request) -> Any:
        def connect(host: str, **given: Any) -> HTTPConnection:
            return _limit(HTTPConnection(host, **given), self._deadline)

        return self.do_open(connect, req)


class _HttpsHandler(HTTPSHandler):
    def __init__(self, deadline: Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def https_open(self, req: Request) -> Any:
        def connect(host: str, **given: Any) -> HTTPConnection:
            return _limit(HTTPSConnection(host, **given), self._deadline)

        return self.do_open(connect, req)
