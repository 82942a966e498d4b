"""The server's gRPC port: TLS, limits, start and stop. Imported only where the port is set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import grpc
import grpc.aio

from footplate.api.request_bodies import MAX_JSON_BYTES
from footplate.domain.errors import InvalidArgument, Violation
from footplate.grpc_api.port import GrpcPort
from footplate.grpc_api.schema import load_schema
from footplate.server.certificate_authority import GOOGLE_NAMES, LOCAL_NAMES

if TYPE_CHECKING:
    from datetime import datetime

    from starlette.types import ASGIApp

    from footplate.grpc_api.relayed_calls import RelayedCallers
    from footplate.server.certificate_authority import CertificateAuthority
    from footplate.settings import Settings

_OPTIONS = (
    ("grpc.max_receive_message_length", MAX_JSON_BYTES),
    ("grpc.so_reuseport", 0),  # or two servers would share a port, and neither would know
    ("grpc.server_handshake_timeout_ms", 30_000),
    ("grpc.max_concurrent_streams", 1000),
)


class GrpcListener:
    """``url`` is where the HTTP server answers; ``port`` is known once it has started."""

    def __init__(
        self, settings: Settings, authority: CertificateAuthority, url: str, now: datetime
    ) -> None:
        self.port: int | None = None
        self.relayed: RelayedCallers = {}
        self._settings = settings
        self._url = urlsplit(url)
        self.certificate = authority.certificate.decode()
        names = (*LOCAL_NAMES, self._url.hostname or "", *settings.allowed_hosts, *GOOGLE_NAMES)
        self._pair = authority.sign((name for name in names if name), now)
        self._schema = load_schema()
        self._server: Any = None

    async def start(self, app: ASGIApp, most: int) -> None:
        """``most``: connections at once. Raises InvalidArgument: the port is taken."""
        host, port = self._settings.host, self._settings.grpc_port or 0
        handler = GrpcPort(app, self._schema, self._url.netloc, host, self.relayed)
        options = (*_OPTIONS, ("grpc.max_allowed_incoming_connections", most))
        server = grpc.aio.server(handlers=(handler,), options=options)
        address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        pair = (self._pair.key, self._pair.certificate)
        try:
            self.port = server.add_secure_port(address, grpc.ssl_server_credentials([pair]))
        except RuntimeError:
            rule = "gRPC can't listen there; choose another grpc_port, or 0 for a free one"
            raise InvalidArgument.of((Violation("grpc_port", f"{port} given: {rule}"),)) from None
        handler.port = self.port
        await server.start()
        self._server = server

    async def stop(self, grace_s: float) -> None:
        """New calls are refused; those in progress are cut off after ``grace_s``."""
        if self._server is not None:
            await self._server.stop(grace_s)
            self._server = None
