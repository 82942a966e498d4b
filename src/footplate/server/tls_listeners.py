"""The ports for Google's clients as they are: gRPC, and the proxy.

Neither loads what it needs (gRPC, cryptography) before the first client comes.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.types import ASGIApp

from footplate.server.data_dir import DataDir
from footplate.server.door import Door
from footplate.server.grpc_relay import GrpcRelay
from footplate.server.leaf_certificates import LeafCertificates
from footplate.server.listener import listen
from footplate.server.node_proxy import NodeProxy
from footplate.server.proxy_connection import DirectGrpc, Tunnels
from footplate.server.proxy_listener import ProxyListener
from footplate.settings import AUTO, NONE, USUAL_PORTS

if TYPE_CHECKING:
    import uvicorn
    from uvicorn.server import ServerState

    from footplate.server.certificate_authority import CertificateAuthority
    from footplate.settings import Settings


LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
GOOGLE_NAMES = ("googleapis.com", "*.googleapis.com")
"""The gRPC port's names: clients that insist on Google's may be led there by other means."""


class TlsListeners:
    """The listeners of gRPC and of the proxy. ``url`` is the HTTP server's.

    ``check_key`` raises a ServiceError if the key isn't that of a running program.
    """

    def __init__(
        self,
        settings: Settings,
        data_dir: DataDir,
        url: str,
        check_key: Callable[[str], object],
    ) -> None:
        """Opens the listeners.

        Raises InvalidArgument if a port is taken, and FailedPrecondition if the authority is
        damaged.
        """
        data_dir.check_authority()
        self.accounts = ProgramAccounts()
        self._data_dir = data_dir
        self._check_key = check_key
        self._names = (*LOCAL_NAMES, urlsplit(url).hostname or "", *settings.allowed_hosts)
        self._leaves = LeafCertificates(lambda: self._authority, data_dir.root)
        self._url = url
        self._relay = GrpcRelay(url)
        self._proxy = ProxyListener(settings.token, check_key)
        self._grpc_listener = _listen(settings, data_dir, "grpc_port")
        self._proxy_listener = _listen(settings, data_dir, "proxy_port")
        self._grpc_server: asyncio.Server | None = None
        self._tunnels: Tunnels | None = None
        self.grpc_port = _port_of(self._grpc_listener)
        self.proxy_port = _port_of(self._proxy_listener)

    @cached_property
    def _authority(self) -> CertificateAuthority:
        # Imported here: it takes 8 MB that a service without such clients never needs.
        from footplate.server.certificate_authority import open_authority

        # Certificates are checked by the clock of the wall, whatever ours makes of its jumps.
        return open_authority(self._data_dir, datetime.now(UTC))

    @property
    def certificate(self) -> str:
        return self._authority.certificate.decode()

    def refused_hosts(self) -> tuple[str, ...]:
        """Returns the hosts that the proxy refused, each once."""
        return tuple(self._proxy.refused)

    async def start(
        self, app: ASGIApp, config: uvicorn.Config, state: ServerState, door: Door
    ) -> None:
        """Starts serving gRPC. The HTTP server's ``config`` and ``state`` serve all the rest."""
        self._relay.start(app, door.most)
        self._tunnels = tunnels = self._make_tunnels(config, state)
        if self._proxy_listener is not None:
            await self._proxy.start(door.guard(self._proxy_listener), tunnels)
        if self._grpc_listener is not None:
            names = tuple(dict.fromkeys(name for name in (*self._names, *GOOGLE_NAMES) if name))
            self._grpc_server = await asyncio.get_running_loop().create_server(
                lambda: DirectGrpc(tunnels, names), sock=door.guard(self._grpc_listener)
            )

    def make_node_proxy(
        self, config: uvicorn.Config, state: ServerState, check_call: Callable[[str], object]
    ) -> NodeProxy | None:
        """Returns the proxy for the port of launchers; None if there is no proxy.

        ``check_call`` raises a ServiceError if the key isn't that of a program that may call.
        """
        if self.proxy_port is None:
            return None
        return NodeProxy(self._make_tunnels(config, state), self._check_key, check_call)

    def _make_tunnels(self, config: uvicorn.Config, state: ServerState) -> Tunnels:
        return Tunnels(self._url, self._leaves, self._relay, config, state)

    def close(self) -> None:
        """Closes the listeners, even if they were never started."""
        for listener in filter(None, (self._grpc_listener, self._proxy_listener)):
            listener.close()

    async def stop(self, grace_s: float) -> None:
        self._proxy.stop()
        if self._grpc_server is not None:
            self._grpc_server.close()
        await self._relay.stop(grace_s)
        if self._tunnels is not None:
            self._tunnels.stop()


def _listen(settings: Settings, data_dir: DataDir, name: str) -> socket.socket | None:
    """Returns a socket at the port of the setting ``name``; None if that is ``none``.

    ``auto`` takes the port of the last start, which shells may know, or the usual one, or a free
    one, so that several services on a machine need no settings.
    """
    chosen = getattr(settings, name)
    if chosen == NONE:
        return None
    usual = (USUAL_PORTS[name],) if chosen == AUTO else ()
    port = 0 if chosen == AUTO else int(chosen)
    listener = listen(settings.host, port, (*data_dir.last_ports(name), *usual), name)
    data_dir.keep_port(listener.getsockname()[1], name)
    return listener


def _port_of(listener: socket.socket | None) -> int | None:
    return None if listener is None else int(listener.getsockname()[1])


_EXPONENT = 65537
_BITS = 2048


class ProgramAccounts:
    """Service accounts for programs, whose private key is created when it is needed."""

    def make(self, project: str, email: str, tokens: str) -> str:
        """Returns the content of a key file for Google's clients. ``tokens`` is the URL where
        they request tokens.
        """
        account = {
            "type": "service_account",
            "project_id": project,
            "private_key_id": "made-up-by-footplate",
            "private_key": self._key,
            "client_email": email,
            "client_id": "0",
            "auth_uri": tokens.replace("/token", "/auth", 1),
            "token_uri": tokens,
        }
        return json.dumps(account, indent=2)

    @cached_property
    def _key(self) -> str:
        # Imported here: it takes memory that most servers never need.
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import rsa

        key = rsa.generate_private_key(_EXPONENT, _BITS)
        return key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ).decode()
