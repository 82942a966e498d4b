"""Copies the bytes of a client's gRPC connection to the gRPC server of this process and back.

gRPC's library takes a sixth of an idle service's memory, so the first connection imports it. It
accepts no connections from elsewhere: it listens at a free port of the loopback address.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from starlette.types import ASGIApp

from footplate.api.request_bodies import MAX_JSON_BYTES
from footplate.api.worker_threads import in_thread
from footplate.grpc_api.relayed_callers import RelayedCaller, RelayedCallers

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter

    from footplate.grpc_api.port import GrpcPort
    from footplate.grpc_api.schema import Schema

_log = logging.getLogger(__name__)
_CHUNK_BYTES = 64 << 10
_LOOPBACK = "127.0.0.1"
_OPTIONS = (
    ("grpc.max_receive_message_length", MAX_JSON_BYTES),
    ("grpc.so_reuseport", 0),
    ("grpc.max_concurrent_streams", 1000),
)


class GrpcRelay:
    """Relays gRPC calls of the proxy to a gRPC server. ``url`` is the HTTP server's."""

    def __init__(self, url: str) -> None:
        self._relayed: RelayedCallers = {}
        self._http_host = urlsplit(url).netloc
        self._app: ASGIApp | None = None
        self._most = 0
        self._starting: asyncio.Task[int] | None = None
        self._server: Any = None

    def start(self, app: ASGIApp, most: int) -> None:
        """Sets the ``app`` that answers, and how many connections may be open at once."""
        self._app, self._most = app, most

    async def connect(self, caller: RelayedCaller) -> GrpcConnection:
        """Connects a caller to gRPC. Raises OSError if gRPC doesn't answer."""
        if self._app is None:
            raise ConnectionRefusedError("the server doesn't serve gRPC")
        if self._starting is None:
            self._starting = asyncio.create_task(self._start(self._app))
        starting = self._starting
        try:
            port = await asyncio.shield(starting)  # one client may leave while others wait
        except Exception as error:  # gRPC raises RuntimeError where it gets no port
            if self._starting is starting:
                _log.warning("gRPC can't be started: %s", error)
                self._starting = None  # the next client tries again
            raise ConnectionRefusedError("gRPC can't be started") from error
        reader, writer = await asyncio.open_connection(_LOOPBACK, port)
        own: tuple[str, int] = writer.get_extra_info("sockname")[:2]
        # To the gRPC server the caller is this end. The note leads it to the client's own
        # addresses, by which programs are known.
        self._relayed[own] = caller
        return GrpcConnection(reader, writer, lambda: self._relayed.pop(own, None))

    async def stop(self, grace_s: float) -> None:
        """Refuses new calls; cancels those in progress after ``grace_s``."""
        if self._starting is not None:
            self._starting.cancel()
        if self._server is not None:
            await self._server.stop(grace_s)
            self._server = None

    async def _start(self, app: ASGIApp) -> int:
        make_server, make_port, schema = await in_thread(_load)
        handler = make_port(app, schema, self._http_host, _LOOPBACK, self._relayed)
        options = (*_OPTIONS, ("grpc.max_allowed_incoming_connections", self._most))
        server = make_server(handlers=(handler,), options=options)
        # Without TLS: the ports that clients connect to end theirs before.
        handler.port = port = int(server.add_insecure_port(f"{_LOOPBACK}:0"))
        await server.start()
        self._server = server
        return port


class GrpcConnection:
    def __init__(
        self, reader: StreamReader, writer: StreamWriter, forget: Callable[[], object]
    ) -> None:
        self._reader, self._writer = reader, writer
        self._forget = forget

    async def relay(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Copies data in both directions until one side has ended."""
        copies = [
            asyncio.ensure_future(_copy(reader, self._writer)),
            asyncio.ensure_future(_copy(self._reader, writer)),
        ]
        try:
            await asyncio.wait(copies, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for copy in copies:
                copy.cancel()
            await asyncio.gather(*copies, return_exceptions=True)
            self._writer.close()
            writer.close()
            self._forget()


def _load() -> tuple[Callable[..., Any], type[GrpcPort], Schema]:
    # Imported here: see above.
    import grpc.aio

    from footplate.grpc_api.port import GrpcPort
    from footplate.grpc_api.schema import load_schema

    return grpc.aio.server, GrpcPort, load_schema()


async def _copy(reader: StreamReader, writer: StreamWriter) -> None:
    try:
        while content := await reader.read(_CHUNK_BYTES):
            writer.write(content)
            await writer.drain()
    except OSError:
        pass  # one of the two is gone, which ends both
