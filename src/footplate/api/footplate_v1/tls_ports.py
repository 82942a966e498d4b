"""Says where gRPC and the proxy are, and whom their clients have to trust."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from starlette.routing import Route

from footplate.api.json_route import Call, json_route
from footplate.domain.errors import FailedPrecondition
from footplate.wire.json_text import JsonObject


class TlsPorts(Protocol):
    """The server's TLS ports, None if not open. ``certificate`` is the authority's, in PEM."""

    @property
    def grpc_port(self) -> int | None: ...

    @property
    def proxy_port(self) -> int | None: ...

    @property
    def certificate(self) -> str: ...

    def refused_hosts(self) -> Sequence[str]: ...


def tls_health(ports: TlsPorts) -> JsonObject:
    """Returns the ports that ``/healthz`` reports."""
    found = {"grpcPort": ports.grpc_port, "proxyPort": ports.proxy_port}
    return {name: port for name, port in found.items() if port is not None}


def tls_routes(ports: TlsPorts) -> list[Route]:
    def authority(_call: Call) -> JsonObject:
        if ports.proxy_port is None and ports.grpc_port is None:
            raise FailedPrecondition(
                "this server has neither a gRPC port nor a proxy: set grpc_port or "
                "proxy_port, and restart the server"
            )
        return {"certificate": ports.certificate}

    def proxy(_call: Call) -> JsonObject:
        if ports.proxy_port is None:
            raise FailedPrecondition(
                "this server has no proxy: restart the server without --no-proxy and without "
                "proxy_port = none"
            )
        return {"port": ports.proxy_port, "refusedHosts": list(ports.refused_hosts())}

    return [
        json_route("/footplate/v1/certificateAuthority", {"GET": authority}),
        json_route("/footplate/v1/proxy", {"GET": proxy}),
    ]
