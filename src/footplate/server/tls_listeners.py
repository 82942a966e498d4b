"""The ports for Google's clients as they are: gRPC, and the proxy. They need the extra ``grpc``."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from footplate.server.certificate_authority import open_authority
from footplate.server.grpc_listener import GrpcListener
from footplate.server.node_proxy import NodeProxy
from footplate.server.program_accounts import ProgramAccounts
from footplate.server.proxy_listener import ProxyListener

if TYPE_CHECKING:
    from collections.abc import Callable

    import uvicorn
    from starlette.types import ASGIApp
    from uvicorn.server import ServerState

    from footplate.server.data_dir import DataDir
    from footplate.server.door import Door
    from footplate.settings import Settings


class TlsListeners:
    """``url`` is where the HTTP server answers. Ports are known once they have started.

    ``check_key`` raises a ServiceError of what isn't the key of a running program.
    """

    def __init__(
        self,
        settings: Settings,
        data_dir: DataDir,
        url: str,
        check_key: Callable[[str], object],
    ) -> None:
        # Certificates are checked by the clock of the wall, whatever ours makes of its jumps.
        now = datetime.now(UTC)
        authority = open_authority(data_dir, now)
        self.accounts = ProgramAccounts()
        self.certificate = authority.certificate.decode()
        self._check_key = check_key
        self._grpc = GrpcListener(settings, authority, url, now)
        self._proxy = (
            None
            if settings.proxy_port is None
            else ProxyListener(settings, data_dir, authority, self._grpc, check_key)
        )

    @property
    def grpc_port(self) -> int | None:
        return self._grpc.port

    @property
    def proxy_port(self) -> int | None:
        return None if self._proxy is None else self._proxy.port

    def refused_hosts(self) -> tuple[str, ...]:
        """What the proxy was asked for and refused, each once."""
        return () if self._proxy is None else tuple(self._proxy.refused)

    async def start(
        self, app: ASGIApp, config: uvicorn.Config, state: ServerState, door: Door
    ) -> None:
        """Raises InvalidArgument: a port is taken."""
        await self._grpc.start(app, door.most)
        if self._proxy is not None:
            await self._proxy.start(config, state, door)

    def make_node_proxy(
        self, config: uvicorn.Config, state: ServerState, check_call: Callable[[str], object]
    ) -> NodeProxy | None:
        """For the port of launchers, once the others have started; None: there is no proxy.

        ``check_call`` raises a ServiceError of what isn't the key of a program that may call.
        """
        if self._proxy is None:
            return None
        tunnels = self._proxy.make_tunnels(config, state)
        return NodeProxy(tunnels, self._check_key, check_call)

    async def stop(self, grace_s: float) -> None:
        if self._proxy is not None:
            self._proxy.stop()
        await self._grpc.stop(grace_s)
