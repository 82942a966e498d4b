"""Calls the HTTP app in this process, as a client at some address would."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from starlette.types import ASGIApp, Scope

from footplate.wire.asgi_call import Headers, call_asgi, json_headers

if TYPE_CHECKING:
    from footplate.grpc_api.transcoding import HttpRequest

Address = tuple[str, int]

_PASSED_ON = ("authorization", "user-agent", "x-goog-api-client", "x-goog-api-key")
"""What of a call's metadata is a header; the others mean something to HTTP, or nothing here."""


async def call_app(
    app: ASGIApp,
    request: HttpRequest,
    headers: Headers,
    client: Address | None,
    server: Address | None,
) -> tuple[int, bytes]:
    """Calls the app; returns the status and the body of the answer.

    ``client`` and ``server`` are the ends of the caller's connection, by which the app identifies
    its owner.
    """
    scope: Scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.verb,
        "scheme": "http",
        "path": request.path,
        "raw_path": quote(request.path).encode(),
        "root_path": "",
        "query_string": request.query,
        "headers": headers + json_headers(request.body),
        "client": client,
        "server": server,
    }
    answer = await call_asgi(app, scope, request.body or b"")
    return answer.status, answer.body


def request_headers(metadata: Sequence[tuple[str, str | bytes]], host: str) -> Headers:
    """Returns the headers of a request. ``host`` is for ``Host``, which gRPC doesn't pass on."""
    passed = [
        (key.encode(), value.encode() if isinstance(value, str) else value)
        for key, value in metadata
        if key in _PASSED_ON
    ]
    return [(b"host", host.encode()), *passed]


def authorized(headers: Headers, authorization: str | None) -> Headers:
    """Returns the headers with the caller's authorization replaced; unchanged for None."""
    if authorization is None:
        return headers
    others = [line for line in headers if line[0] != b"authorization"]
    return [*others, (b"authorization", authorization.encode())]


def client_of(peer: str) -> Address | None:
    """Returns the address in ``ipv4:127.0.0.1:50000`` or ``ipv6:[::1]:50000``; else None."""
    kind, _, address = unquote(peer).partition(":")
    host, _, port = address.rpartition(":")
    if kind not in {"ipv4", "ipv6"} or not port.isdecimal():
        return None
    return host.strip("[]"), int(port)


def server_of(client: Address | None, host: str, port: int) -> Address | None:
    """Returns the server's end of the connection, which gRPC doesn't report.

    ``host`` is the address at which the server listens.
    """
    if client is None:
        return None
    try:
        if not ip_address(host).is_unspecified:
            return host, port
    except ValueError:  # a name: localhost
        pass
    return ("::1" if ":" in client[0] else "127.0.0.1"), port
