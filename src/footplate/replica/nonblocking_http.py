"""A non-blocking HTTP client, for a loop that has other things to do."""

from __future__ import annotations

import errno
import select
import socket

from footplate.http1 import AT_ONCE_BYTES, Response, format_request
from footplate.replica.http_client import (
    ServerUnavailable,
    format_host,
    is_server_there,
    read_address,
)


class Answer:
    __slots__ = ("body", "status")

    def __init__(self, status: int, body: bytes) -> None:
        self.status = status
        self.body = body


class NonblockingRequest:
    """A request that never blocks.

    Call ``begin``, then ``step`` whenever ``events`` happen on ``fileno``, until it answers.

    The connection is kept between requests. Looking up a host's name does block; loopback
    addresses have none.
    """

    def __init__(self, server_file: str, token: str) -> None:
        self._server_file = server_file
        self._token = token
        self._socket: socket.socket | None = None
        self._host = ""
        self._attempts = 0
        self._reset("", "", None)

    @property
    def busy(self) -> bool:
        return bool(self._method)

    def fileno(self) -> int:
        return -1 if self._socket is None else self._socket.fileno()

    def events(self) -> int:
        return select.POLLIN | (select.POLLOUT if self._outgoing else 0)

    def begin(self, method: str, path: str, body: bytes | None) -> None:
        """Begins a request. Raises ServerUnavailable."""
        self._reset(method, path, body)
        self._reused = self._socket is not None
        try:
            self._connect()
        except ServerUnavailable:
            self.abort()
            raise
        self._outgoing = memoryview(format_request(method, path, self._host, self._token, body))

    def step(self) -> Answer | None:
        """Sends and receives what can be at once; returns the answer when it is complete.

        Raises:
            ServerUnavailable: no answer, or none that is HTTP; the request may be begun again.
        """
        if not self.busy:
            self.abort()
            return None
        try:
            return self._step()
        except BlockingIOError:
            return None
        except OSError as error:
            # A server may close a kept connection just as the request is sent. That is no failure
            # of the server, so the request is sent once more over a new connection.
            again = self._reused and not self._response.begun
            method, path, body = self._method, self._path, self._body
            self.abort()
            if again:
                self.begin(method, path, body)
                return None
            raise ServerUnavailable(f"{method} {path}: {error}") from error

    def is_ours(self) -> bool:
        """Returns whether an answer can be our server's; a server of others knows nothing of us."""
        return is_server_there(self._server_file)

    def moved(self) -> bool:
        """Returns whether our server is now registered at another address than the request's."""
        try:
            return self.busy and format_host(*read_address(self._server_file)) != self._host
        except ServerUnavailable:
            return False

    def abort(self) -> None:
        """Gives up the request and the connection."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        self._reset("", "", None)

    def _reset(self, method: str, path: str, body: bytes | None) -> None:
        self._method, self._path, self._body = method, path, body
        self._outgoing = memoryview(b"")
        self._response = Response()
        self._reused = False

    def _connect(self) -> None:
        """Connects to the server. Raises ServerUnavailable, and leaves it to the caller to
        ``abort``.
        """
        if self._socket is not None:
            return
        host, port = read_address(self._server_file)
        self._host = format_host(host, port)
        try:
            # Of a name as text Python loads what it takes to spell others' alphabets: 10 ms.
            name = host.encode("ascii") if host.isascii() else host
            found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
            family, kind, protocol, _, address = found[self._attempts % len(found)]
            self._socket = socket.socket(family, kind, protocol)
            self._socket.setblocking(False)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            failure = self._socket.connect_ex(address)
        except OSError as error:
            raise ServerUnavailable(f"{self._host}: {error}") from error
        finally:
            self._attempts += 1
        if failure not in (0, errno.EINPROGRESS):
            raise ServerUnavailable(f"{self._host}: {errno.errorcode.get(failure, failure)}")

    def _step(self) -> Answer | None:
        connected = self._socket
        if connected is None:
            return None
        failure = connected.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if failure:
            raise OSError(failure, errno.errorcode.get(failure, "?"))
        self._send(connected)
        return self._receive(connected)

    def _send(self, connected: socket.socket) -> None:
        """Sends the rest of the request. A server may answer, and close, before it has read all:
        then the rest isn't sent.
        """
        try:
            while self._outgoing:
                self._outgoing = self._outgoing[connected.send(self._outgoing) :]
        except BlockingIOError:
            return
        except (BrokenPipeError, ConnectionResetError):
            self._outgoing = memoryview(b"")

    def _receive(self, connected: socket.socket) -> Answer:
        response = self._response
        while not response.done:
            response.gather(connected.recv(AT_ONCE_BYTES))
        answer = Answer(response.status, bytes(response.content))
        if response.reusable and not self._outgoing:
            self._reset("", "", None)
        else:
            self.abort()
        return answer
