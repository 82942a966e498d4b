"""The HTTP app as it is called for a gRPC call."""

from __future__ import annotations

import asyncio

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from footplate.grpc_api.asgi_call import call_app, client_of, request_headers, server_of
from footplate.grpc_api.port import why_unserved
from footplate.grpc_api.transcoding import HttpRequest


async def mirror(request: Request) -> Response:
    shown = {
        "method": request.method,
        "url": str(request.url),
        "body": (await request.body()).decode(),
        "ends": [request.scope["client"], request.scope["server"]],
        "headers": dict(request.headers),
    }
    return JSONResponse(shown, 207)


def test_the_app_sees_the_caller_and_the_request() -> None:
    app = Starlette(routes=[Route("/{path:path}", mirror, methods=["POST"])])
    request = HttpRequest("POST", "/v1/a b", b"x=1", b"{}")
    metadata = (("authorization", "Bearer t"), ("host", "evil"), ("x-bin", b"\0"))
    headers = request_headers(metadata, "127.0.0.1:8470")

    status, body = asyncio.run(call_app(app, request, headers, ("::1", 5), ("::1", 6)))

    assert status == 207
    assert b'"ends":[["::1",5],["::1",6]]' in body
    assert b'"url":"http://127.0.0.1:8470/v1/a b?x=1"' in body
    assert b'"authorization":"Bearer t"' in body
    assert b"evil" not in body
    assert b'"body":"{}"' in body


@pytest.mark.parametrize(
    ("peer", "client"),
    [
        ("ipv4:127.0.0.1:50000", ("127.0.0.1", 50000)),
        ("ipv6:[::1]:50000", ("::1", 50000)),
        ("ipv6:%5B::1%5D:50000", ("::1", 50000)),
        ("unix:/tmp/socket", None),
        ("", None),
    ],
)
def test_the_callers_address(peer: str, client: tuple[str, int] | None) -> None:
    assert client_of(peer) == client


@pytest.mark.parametrize(
    ("client", "host", "server"),
    [
        (("127.0.0.1", 5), "localhost", ("127.0.0.1", 6)),
        (("::1", 5), "localhost", ("::1", 6)),
        (("127.0.0.1", 5), "127.0.0.1", ("127.0.0.1", 6)),
        (("10.0.0.2", 5), "10.0.0.1", ("10.0.0.1", 6)),
        (("127.0.0.1", 5), "0.0.0.0", ("127.0.0.1", 6)),
        (None, "127.0.0.1", None),
    ],
)
def test_the_servers_end(
    client: tuple[str, int] | None, host: str, server: tuple[str, int] | None
) -> None:
    assert server_of(client, host, 6) == server


def test_what_is_not_served_says_so() -> None:
    said = why_unserved("/google.pubsub.v1.Publisher/Publish")
    assert said.startswith("Footplate has no Pub/Sub (pubsub.googleapis.com). Print the ")
    assert "it serves jobs" in why_unserved("nonsense")
