"""Copies the bytes of a client's gRPC connection to the gRPC port and back."""

from __future__ import annotations

import asyncio
import ssl
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter
    from collections.abc import Callable

    from footplate.grpc_api.relayed_calls import RelayedCaller
    from footplate.server.grpc_listener import GrpcListener

_CHUNK_BYTES = 64 << 10
LOOPBACK = "127.0.0.1"


class GrpcRelay:
    """``host`` is where gRPC listens: an address of this machine."""

    def __init__(self, grpc: GrpcListener, host: str) -> None:
        self._grpc = grpc
        self._host = {"0.0.0.0": LOOPBACK, "::": "::1"}.get(host, host)  # noqa: S104
        self._context = ssl.create_default_context(cadata=grpc.certificate)
        self._context.set_alpn_protocols(["h2"])

    async def connect(self, caller: RelayedCaller) -> GrpcConnection:
        """Raises OSError: gRPC doesn't answer."""
        reader, writer = await asyncio.open_connection(
            self._host, self._grpc.port, ssl=self._context, server_hostname="localhost"
        )
        own: tuple[str, int] = writer.get_extra_info("sockname")[:2]
        self._grpc.relayed[own] = caller
        return GrpcConnection(reader, writer, lambda: self._grpc.relayed.pop(own, None))


class GrpcConnection:
    def __init__(
        self, reader: StreamReader, writer: StreamWriter, forget: Callable[[], object]
    ) -> None:
        self._reader, self._writer = reader, writer
        self._forget = forget

    async def relay(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Until one side has ended."""
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


async def _copy(reader: StreamReader, writer: StreamWriter) -> None:
    try:
        while content := await reader.read(_CHUNK_BYTES):
            writer.write(content)
            await writer.drain()
    except OSError:
        pass  # one of the two is gone, which ends both
