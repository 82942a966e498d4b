"""Blocking client of the replica API."""

from __future__ import annotations

import json
import os
import socket

from footplate.http1 import BODY_LIMIT_BYTES, Client
from footplate.replica.file_io import read_text

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any

    from footplate.http1 import Answer

_TIMEOUT_S = 30.0
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
    """Returns whether the registered server lives; if it doesn't, another process may use its
    port.
    """
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
    scheme, host, port = split_url(url)
    if scheme != "http" or not host:
        raise ValueError(url)
    return host, port


def split_url(url: str) -> tuple[str, str, int]:
    """Returns scheme, host and port; urllib.parse would cost 2 ms in every process."""
    scheme, _, rest = url.partition("://")
    place = rest.partition("/")[0]
    host, _, port = place.rpartition(":")
    if not port.isdigit():
        host, port = place, "443" if scheme == "https" else "80"
    return scheme, host.strip("[]"), int(port)


def format_host(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def connect(server_file: str, timeout_s: float = _TIMEOUT_S) -> tuple[socket.socket, str]:
    """Returns a connection to the server that runs now, and the value for the header ``Host``.

    Raises:
        ServerUnavailable: no server is known.
        OSError: it doesn't listen.
    """
    address = read_address(server_file)
    connected = socket.create_connection(address, timeout_s)
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connected, format_host(*address)


def explain(what: str, error: OSError) -> ServerUnavailable:
    return error if isinstance(error, ServerUnavailable) else ServerUnavailable(f"{what}: {error}")


def parse_object(text: bytes, what: str) -> dict[str, Any]:
    """Returns the JSON object in ``text``, the answer to ``what``. Raises ServerUnavailable."""
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ServerUnavailable(f"the server answers {what}, but not with JSON") from error
    if not isinstance(value, dict):
        raise ServerUnavailable(f"the server answers {what}, but not with a JSON object")
    return value


class Connection:
    """Sends requests that may be repeated without harm; after ServerUnavailable do so.

    Each new connection reads ``server_file`` again, so that a server that came back on another
    port is found. Each method raises ServerUnavailable, or Refused with the server's status.
    """

    def __init__(self, server_file: str, token: str, timeout_s: float = _TIMEOUT_S) -> None:
        self._client = Client(
            lambda: connect(server_file, timeout_s), explain, token, BODY_LIMIT_BYTES
        )
        self.close = self._client.close

    def get(self, path: str) -> bytes:
        """Returns the body at ``path``."""
        return self._ask("GET", path, None).read()

    def download(self, path: str, destination: str) -> None:
        """Streams the body at ``path`` into the file ``destination``, which appears only whole.

        Raises OSError, too: the file can't be written.
        """
        part = f"{destination}.part"
        try:
            with open(part, "wb") as file:
                for piece in self._ask("GET", path, None).pieces():
                    file.write(piece)
            os.replace(part, destination)
        except BaseException:
            os.unlink(part)
            raise

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Returns the JSON object that the server answers to the JSON object ``body``."""
        return self.post_bytes(path, json.dumps(body).encode())

    def post_bytes(self, path: str, body: bytes) -> dict[str, Any]:
        """Does what ``post`` does, for a JSON object that is bytes already."""
        return parse_object(self._ask("POST", path, body).read(), path)

    def _ask(self, method: str, path: str, body: bytes | None) -> Answer:
        answer = self._client.request(method, path, body)
        if answer.status >= 500:
            self.close()  # it may be another server by now that we should talk to
            raise ServerUnavailable(f"{method} {path}: HTTP {answer.status}")
        if answer.status >= 300:
            text = answer.read()[:_ERROR_LIMIT_BYTES]
            raise Refused(answer.status, text.decode("utf-8", "replace"))
        return answer
