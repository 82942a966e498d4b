"""The listener for launchers on other machines and for programs there, over TLS.

Of several servers only the one that leads listens, so that an address that all of them are given
leads to it.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from asyncio import sslproto
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from footplate.domain.errors import InvalidArgument
from footplate.server.certificate_authority import open_authority
from footplate.server.data_dir import DataDir
from footplate.server.door import Door
from footplate.server.leaf_certificates import LeafCertificates
from footplate.server.listener import listen
from footplate.server.node_proxy import NodeProxy, NodeRequests

if TYPE_CHECKING:
    import ssl

    import uvicorn
    from uvicorn.server import ServerState

    from footplate.settings import Settings

_PORT_FILE = "cluster_port"
_FOLLOW_S = 0.5
"""How often a server looks whether it leads."""
_HANDSHAKE_S = 30
_BUFFER_BYTES = 32 << 10
"""The most that is received at once; a record of TLS is half as long."""
_log = logging.getLogger(__name__)


class ClusterListener:
    """The server's listener for the nodes of clusters.

    Launchers get ``url``, and the certificate in ``certificate_file``. The listener's own
    certificate is for the host of ``cluster_address``, and is renewed in time.
    """

    def __init__(
        self, settings: Settings, data_dir: DataDir, now: Callable[[], datetime] | None = None
    ) -> None:
        """Opens the listener. Raises InvalidArgument if it can't listen at the address."""
        now = now or _now
        self.host, self._port = settings.cluster_address or ("127.0.0.1", 0)
        authority = open_authority(data_dir, now())
        data_dir.keep_cluster_certificate(authority.certificate)
        self.certificate_file: Path = data_dir.cluster_certificate
        self._leaves = LeafCertificates(lambda: authority, data_dir.root, now)
        self._context = self._leaves.context(self.host)
        self._context.sni_callback = self._choose_certificate
        self._shared = not settings.database.startswith("sqlite:")
        self._proxy: NodeProxy | None = None
        self._door: Door | None = None
        self._listener: socket.socket | None = None
        self._server: asyncio.Server | None = None
        self._following: asyncio.Task[None] | None = None
        if self._port == 0 or not self._shared:
            last = data_dir.last_ports(_PORT_FILE)
            self._listener = listen(self.host, self._port, last, "cluster_address")
            self._port = self._listener.getsockname()[1]
            data_dir.keep_port(self._port, _PORT_FILE)

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"https://{host}:{self._port}"

    @property
    def listens(self) -> bool:
        return self._server is not None

    async def start(
        self,
        config: uvicorn.Config,
        state: ServerState,
        leads: Callable[[], bool],
        proxy: NodeProxy | None = None,
        door: Door | None = None,
    ) -> None:
        """Starts serving. ``config`` names the app; ``state`` is of the server that closes the
        connections.
        """
        config.load()
        self._proxy, self._door = proxy, door
        if self._listener is not None:
            await self._serve(self._listener, config, state)
        else:
            self._following = asyncio.create_task(self._follow(config, state, leads))

    def stop(self) -> None:
        """Stops accepting connections."""
        if self._following is not None:
            self._following.cancel()
            self._following = None
        self._leave()
        if self._proxy is not None:
            self._proxy.stop()

    def close(self) -> None:
        """Closes the listener, even if it was never started."""
        if self._listener is not None:
            self._listener.close()

    def _choose_certificate(
        self, connection: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext
    ) -> None:
        """Selects the certificate at each handshake, whether or not the client names a host."""
        connection.context = self._leaves.context(self.host)

    async def _serve(
        self, listener: socket.socket, config: uvicorn.Config, state: ServerState
    ) -> None:
        def connected() -> asyncio.Protocol:
            return NodeRequests(config=config, server_state=state, app_state={}, proxy=self._proxy)

        loop, buffer = asyncio.get_running_loop(), memoryview(bytearray(_BUFFER_BYTES))
        guarded = listener if self._door is None else self._door.guard(listener)
        self._server = await loop.create_server(
            lambda: _TlsConnection(loop, connected(), self._context, buffer), sock=guarded
        )

    def _leave(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None

    async def _follow(
        self, config: uvicorn.Config, state: ServerState, leads: Callable[[], bool]
    ) -> None:
        """Listens while this server leads; waits if the previous leader still holds the address."""
        complained = False
        while True:
            if not leads():
                self._leave()
            elif self._server is None:
                try:
                    listener = listen(self.host, self._port, setting="cluster_address")
                    await self._serve(listener, config, state)
                    complained = False
                except InvalidArgument as error:
                    if not complained:
                        _log.warning("nodes of clusters can't report to this server yet: %s", error)
                    complained = True
            await asyncio.sleep(_FOLLOW_S)


class _TlsConnection(sslproto.SSLProtocol):
    """A TLS connection that receives into ``buffer``, which all connections of a loop share.

    Each replica keeps three connections, and asyncio gives each of them a buffer of 256 KiB for as
    long as it lasts. But the loop fills a buffer and hands over its content in one go, so that no
    connection can come between.
    """

    max_size = _BUFFER_BYTES

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        connected: asyncio.Protocol,
        context: ssl.SSLContext,
        buffer: memoryview,
    ) -> None:
        super().__init__(
            loop,
            connected,
            context,
            None,  # type: ignore[arg-type]  # asyncio's own server waits, ours doesn't
            server_side=True,
            ssl_handshake_timeout=_HANDSHAKE_S,
        )
        self._ssl_buffer, self._ssl_buffer_view = buffer, buffer


def _now() -> datetime:
    # Certificates are checked by the clock of the wall, whatever ours makes of its jumps.
    return datetime.now(UTC)
