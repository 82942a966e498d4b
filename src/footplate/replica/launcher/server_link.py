"""The launcher's way to its server: requests of its own, and bytes of the supervisor's."""

from __future__ import annotations

import json
import socket
import ssl
import time

from footplate.http1 import AT_ONCE_BYTES, BadResponse, Response, format_request
from footplate.replica.http_client import (
    Refused,
    ServerUnavailable,
    parse_object,
    split_url,
)

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any

CONNECT_S = 15.0
LOOPBACK = "127.0.0.1"
"""What stands in ``Host``: it is all that the server's own supervisors say, too."""
_MAX_BYTES = 8 << 20
_FRESH_S = 1.0
"""A connection that was used so lately isn't closed by the server for being idle."""


class Post:
    """A request that one thread carries out, and that another one may cancel."""

    def __init__(self, path: str, body: dict[str, Any], timeout_s: float) -> None:
        self.path = path
        self.body = json.dumps(body).encode()
        self._end_s = time.monotonic() + timeout_s
        self._socket: socket.socket | None = None
        self._cancelled = False

    @property
    def left_s(self) -> float:
        """Returns how long it may take yet. Raises OSError if its time is over."""
        left_s = self._end_s - time.monotonic()
        if left_s <= 0:
            raise ServerUnavailable(f"{self.path}: the server doesn't answer in time")
        return left_s

    def use(self, connection: socket.socket) -> None:
        """Notes the connection that it uses from now on. Raises OSError if it was cancelled."""
        self._socket = connection
        if self._cancelled:
            raise ServerUnavailable(f"{self.path}: cancelled")

    def cancel(self) -> None:
        """Ends the request as if the server had closed the connection."""
        self._cancelled = True
        if self._socket is not None:
            try:
                # Not that of SSLSocket, which would take the TLS away from the thread that reads.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
            except OSError:  # it is closed
                return


class ServerLink:
    """The way of a launcher to its server. ``authority`` holds the certificates (PEM) to trust for
    an https URL; if empty, the node's own trusted certificates apply.

    A connection is kept from one request to the next: TLS costs several times what a request does.
    Its methods block, and may be called by several threads.
    """

    def __init__(self, url: str, authority: str, token: str) -> None:
        scheme, host, port = split_url(url)
        host = host or LOOPBACK
        self._host: Any = host.encode("ascii") if host.isascii() else host
        """As bytes: of a name as text Python loads what it takes to spell others' alphabets."""
        self._port = port
        self.token = token
        self.own_address = ""
        """That of the node, on the way to the server; empty before the first connection."""
        self._kept: list[tuple[float, socket.socket]] = []
        """At most one, with the time of its last use; a list, as its ``pop`` is atomic."""
        self._tls: ssl.SSLContext | None = None
        if scheme == "https":
            self._tls = ssl.create_default_context(cadata=authority or None)

    def post(self, post: Post) -> dict[str, Any]:
        """Posts a JSON object and returns the server's answer.

        Raises:
            ServerUnavailable: ask again later.
            Refused: with the status that the server gave.
        """
        try:
            answer = self._post(post)
        except ServerUnavailable:
            raise
        except OSError as error:
            raise ServerUnavailable(f"{post.path}: {error!r}") from error
        return parse_object(answer, post.path)

    def _post(self, post: Post) -> bytes:
        request = format_request("POST", post.path, LOOPBACK, self.token, post.body)
        kept = self.take_kept()
        if kept is not None:
            response = Response(_MAX_BYTES)
            try:
                return self._exchange(post, kept, request, response)
            except OSError:
                # Servers close idle connections, and restart. A report may be sent twice.
                if response.begun:
                    raise
        return self._exchange(post, self.connect(post.left_s), request, Response(_MAX_BYTES))

    def _exchange(
        self, post: Post, connection: socket.socket, request: bytes, response: Response
    ) -> bytes:
        """Sends a request and returns the body of the answer; keeps a connection that can be used
        again, and closes any other.
        """
        keeps = False
        try:
            post.use(connection)
            connection.settimeout(post.left_s)
            connection.sendall(request)
            while not response.done:
                connection.settimeout(post.left_s)
                response.gather(connection.recv(AT_ONCE_BYTES))
            keeps = response.reusable and response.status < 300
        finally:
            if not keeps:
                connection.close()
        if keeps:
            self.close()
            self._kept.append((time.monotonic(), connection))
        body = bytes(response.content)
        if response.status >= 500:
            raise BadResponse(f"HTTP {response.status}")
        if response.status >= 300:
            raise Refused(response.status, body[:500].decode(errors="replace"))
        return body

    def take_kept(self, used_within_s: float = float("inf")) -> socket.socket | None:
        """Returns the kept connection, which is the caller's from now on; None if there is none
        that was used so lately.
        """
        try:
            used_s, connection = self._kept.pop()
        except IndexError:
            return None
        if time.monotonic() - used_s > used_within_s:
            connection.close()
            return None
        return connection

    def close(self) -> None:
        """Closes the kept connection."""
        kept = self.take_kept()
        if kept is not None:
            kept.close()

    def join(self) -> socket.socket:
        """Returns a connection for bytes of others: the kept one if that is fresh, since a launcher
        that just started a supervisor doesn't need it before that has its task. Raises OSError.
        """
        return self.take_kept(_FRESH_S) or self.connect(CONNECT_S)

    def connect(self, timeout_s: float) -> socket.socket:
        """Returns a new connection to the server. Raises OSError."""
        timeout_s = min(timeout_s, CONNECT_S)
        connection = socket.create_connection((self._host, self._port), timeout_s)
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.own_address = str(connection.getsockname()[0])
            if self._tls is None:
                return connection
            return self._tls.wrap_socket(connection, server_hostname=self._host)
        except BaseException:
            connection.close()
            raise
