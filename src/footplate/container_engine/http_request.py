"""A minimal HTTP request to an engine, with the standard library alone."""

from __future__ import annotations

import http.client
import json
import socket
from typing import Any

TIMEOUT_S = 60.0


def ask_engine(socket_path: str, method: str, path: str) -> tuple[int, Any]:  # Any: JSON
    """Returns the status and the body of the answer.

    Raises:
        OSError: the engine doesn't answer.
    """
    connection = _Connection(socket_path)
    try:
        connection.request(method, path)
        response = connection.getresponse()
        content = response.read()
    except http.client.HTTPException as error:
        raise OSError(
            f"the container engine at {socket_path} broke the connection: {error!r}"
        ) from error
    finally:
        connection.close()
    try:
        return response.status, json.loads(content) if content else None
    except ValueError:
        return response.status, content[:500].decode(errors="replace")


class _Connection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("engine", timeout=TIMEOUT_S)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(TIMEOUT_S)
        self.sock.connect(self._path)
