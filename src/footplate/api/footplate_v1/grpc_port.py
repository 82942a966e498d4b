"""Says where gRPC is served, and whom its clients have to trust."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from footplate.api.json_route import json_route
from footplate.domain.errors import FailedPrecondition

if TYPE_CHECKING:
    from starlette.routing import Route

    from footplate.api.json_route import Call
    from footplate.wire.json_text import JsonObject


class GrpcServed(Protocol):
    """``port`` is None until it is answered; ``certificate`` is the authority's, in PEM."""

    @property
    def port(self) -> int | None: ...

    @property
    def certificate(self) -> str: ...


def grpc_health(served: GrpcServed | None) -> JsonObject:
    """What ``/healthz`` says of it."""
    return {} if served is None or served.port is None else {"grpcPort": served.port}


def grpc_routes(served: GrpcServed | None) -> list[Route]:
    def authority(_call: Call) -> JsonObject:
        if served is None:
            raise FailedPrecondition("this server has no gRPC port: see the setting grpc_port")
        return {"certificate": served.certificate}

    return [json_route("/footplate/v1/certificateAuthority", {"GET": authority})]
