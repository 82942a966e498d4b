"""Passes on connections of this node's supervisors and programs to the server."""

from __future__ import annotations

import asyncio

from footplate.replica.launcher.server_link import ServerLink

_CHUNK_BYTES = 65536


class Relay:
    def __init__(self, link: ServerLink) -> None:
        self._link = link
        self._server: asyncio.AbstractServer | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self) -> int:
        """Opens the listener and returns its port."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._join(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await self._link.connect()
        except (OSError, asyncio.TimeoutError):
            writer.close()  # as if nobody listened: the supervisor tries again
            return
        try:
            await asyncio.gather(_copy(reader, far_writer), _copy(far_reader, writer))
        finally:
            writer.close()
            far_writer.close()


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    """Copies until the end of ``source``. Over TLS the end of one direction ends the other, too."""
    try:
        while True:
            data = await source.read(_CHUNK_BYTES)
            if not data:
                break
            sink.write(data)
            await sink.drain()
        if sink.can_write_eof():
            sink.write_eof()
        else:
            sink.close()
    except (OSError, RuntimeError):  # the other side is gone
        sink.close()
