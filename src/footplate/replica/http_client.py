"""Blocking HTTP client of the replica API."""

from __future__ import annotations

import json
import os
import socket

from footplate.replica.file_io import read_text
from footplate.replica.http1 import BadResponse, Response, format_request

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Callable

_TIMEOUT_S = 30.0
_BODY_LIMIT_BYTES = 64 * 1024 * 1024
_ERROR_LIMIT_BYTES = 2000


class ServerUnavailable(OSError):
    """The server gave no answer, or none that makes sense: the same request may succeed later."""


class Refused(Exception):
    """The server rejected the request (4xx); retrying does not help."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"HTTP {status}: {message}")
        self.status = status


def read_address(server_file: str) -> tuple[str, int]:
    """Returns host and port of the server that runs now.

    Raises:
        ServerUnavailable: the file isn't there, or names no http server.
    """
    try:
        url = json.loads(read_text(server_file))["url"]
        return _parse_url(url)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ServerUnavailable(f"{server_file} names no server: {error}") from error


def is_server_there(server_file: str) -> bool:
    """Returns whether the registered server lives; else another process may use its port."""
    try:
        pid = json.loads(read_text(server_file)).get("pid")
        os.kill(int(pid or os.getpid()), 0)
    except PermissionError:
        return True
    except (OSError, ValueError, TypeError, AttributeError, OverflowError):
        # kill() fails for no other reason than that there is none
        return False
    return True


def _parse_url(url: str) -> tuple[str, int]:
    scheme, _, rest = url.partition("://")
    host, _, port = rest.partition("/")[0].rpartition(":")
    if scheme != "http" or not host:
        raise ValueError(url)
    return host.strip("[]"), int(port)


def format_host(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


class Connection:
    """Sends blocking requests on one connection, which is kept open between them.

    Each new connection reads ``server_file`` again, so that a server that came back on another
    port is found. Every request may be repeated without harm; after ServerUnavailable do so.
    """

    def __init__(self, server_file: str, token: str, timeout_s: float = _TIMEOUT_S) -> None:
        self._server_file = server_file
        self._token = token
        self._timeout_s = timeout_s
        self._host = ""
        self._socket: socket.socket | None = None

    def get(self, path: str) -> bytes:
        """Returns the body at ``path``.

        Raises:
            ServerUnavailable: ask again later.
            Refused: with the status that the server gave.
        """
        return self._fetch("GET", path, None)

    def download(self, path: str, destination: str) -> None:
        """Streams the body at ``path`` into the file ``destination``, which appears only whole.

        Raises:
            ServerUnavailable: ask again later.
            Refused: with the status that the server gave.
            OSError: the file can't be written.
        """
        part = f"{destination}.part"
        try:
            with open(part, "wb") as file:
                self._request("GET", path, None, file.write)
            os.replace(part, destination)
        except BaseException:
            os.unlink(part)
            raise

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Returns the JSON object that the server answers to the JSON object ``body``.

        Raises:
            ServerUnavailable: ask again later.
            Refused: with the status that the server gave.
        """
        return self.post_bytes(path, json.dumps(body).encode())

    def post_bytes(self, path: str, body: bytes) -> dict[str, Any]:
        """Does what ``post`` does, for a JSON object that is bytes already."""
        answer = self._fetch("POST", path, body)
        try:
            value = json.loads(answer)
        except ValueError as error:
            raise ServerUnavailable(f"{path} answered with something that isn't JSON") from error
        if not isinstance(value, dict):
            raise ServerUnavailable(f"{path} answered with something that isn't a JSON object")
        return value

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _fetch(self, method: str, path: str, body: bytes | None) -> bytes:
        parts: list[bytes] = []
        size = 0

        def collect(data: bytes) -> None:
            nonlocal size
            size += len(data)
            if size > _BODY_LIMIT_BYTES:
                raise BadResponse("the server's answer is too long")
            parts.append(data)

        self._request(method, path, body, collect)
        return b"".join(parts)

    def _request(
        self, method: str, path: str, body: bytes | None, write: Callable[[bytes], object]
    ) -> None:
        reused = self._socket is not None
        try:
            head = self._exchange(method, path, body, write)
        except (OSError, BadResponse) as error:
            self.close()
            if isinstance(error, _Stale) and reused:
                self._request(method, path, body, write)
                return
            if isinstance(error, (_DiskFault, ServerUnavailable)):
                raise
            raise ServerUnavailable(f"{method} {path}: {error}") from error
        if head.status >= 500:
            self.close()  # it may be another server by now that we should talk to
            raise ServerUnavailable(f"{method} {path}: HTTP {head.status}")

    def _exchange(
        self, method: str, path: str, body: bytes | None, write: Callable[[bytes], object]
    ) -> Response:
        connected = self._connect()
        response, refusal = Response(), b""
        try:
            connected.sendall(format_request(method, path, self._host, self._token, body))
            data = connected.recv(65536)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise _Stale(str(error)) from error
        if not data:
            raise _Stale("the connection broke before an answer")
        while True:
            content = response.feed(data)
            if response.status >= 300:
                refusal = (refusal + content)[:_ERROR_LIMIT_BYTES]
            elif content:
                _write(write, content)
            if response.done:
                break
            data = connected.recv(65536)
            if not data:
                response.end()
                break
        if not response.reusable:
            self.close()
        if 300 <= response.status < 500:
            raise Refused(response.status, refusal.decode("utf-8", "replace"))
        return response

    def _connect(self) -> socket.socket:
        if self._socket is None:
            address = read_address(self._server_file)
            self._host = format_host(*address)
            self._socket = socket.create_connection(address, self._timeout_s)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self._socket


class _Stale(OSError):
    """A kept connection turned out to be closed by the other side."""


class _DiskFault(OSError):
    """The answer came, and could not be kept."""


def _write(write: Callable[[bytes], object], content: bytes) -> None:
    try:
        write(content)
    except OSError as error:
        raise _DiskFault(error.errno, error.strerror) from error
