"""HTTP clients for engines, with a limit on the time of a whole exchange: see ``limited_http``."""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from typing import Any

import httpcore

from footplate.limited_http import LIMIT_S, RATE_BYTES_S, Deadline
from footplate.plain_httpx import httpx

_PIECE_BYTES = 65536


def make_client(
    url: str, timeout_s: float, *, socket: str | None = None, limit_s: float = LIMIT_S
) -> httpx.Client:
    """Returns a client for the server at ``url``, or at a ``socket`` of this machine.

    ``timeout_s`` limits each step of an exchange, ``limit_s`` all of it, with a second more for
    each ``RATE_BYTES_S`` received. No connection stays open: nobody closes an engine.
    """
    return httpx.Client(
        base_url=url,
        timeout=timeout_s,
        transport=_Transport(socket, limit_s),
        trust_env=False,
    )


class _Transport(httpx.HTTPTransport):
    def __init__(self, socket: str | None, limit_s: float) -> None:
        context = httpx.create_ssl_context(trust_env=False)
        super().__init__(verify=context, trust_env=False)
        self._pool = httpcore.ConnectionPool(
            ssl_context=context,
            max_connections=None,
            max_keepalive_connections=0,
            uds=socket,
            network_backend=_Network(limit_s),
        )


class _Network(httpcore.NetworkBackend):
    """Connections that each serve one exchange, and must be over in time."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._network = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        deadline = Deadline(self._limit_s, RATE_BYTES_S)
        given = (host, port, timeout, local_address, socket_options)
        return _Stream(self._network.connect_tcp(*given), deadline)

    def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        deadline = Deadline(self._limit_s, RATE_BYTES_S)
        return _Stream(self._network.connect_unix_socket(path, timeout, socket_options), deadline)


class _Stream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        try:
            found = self._stream.read(max_bytes, self._cut(timeout))
        except httpcore.ReadTimeout:
            self._cut(None)  # says that the whole took too long, if it did
            raise
        self._deadline.note(len(found))
        return found

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        # In pieces: a host may also read slowly.
        for start in range(0, len(buffer), _PIECE_BYTES):
            piece = buffer[start : start + _PIECE_BYTES]
            self._stream.write(piece, self._cut(timeout))
            self._deadline.note(len(piece))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        inner = self._stream.start_tls(ssl_context, server_hostname, self._cut(timeout))
        return _Stream(inner, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)

    def _cut(self, timeout_s: float | None) -> float:
        try:
            return self._deadline.cut(timeout_s)
        except TimeoutError as error:
            # No ReadTimeout: its message is that of a step.
            raise httpcore.ReadError(str(error)) from error
