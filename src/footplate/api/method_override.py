"""GET requests too long for a URL, sent as POST with the query in the body.

googleapiclient does so from 2048 characters on; without this a long list would be a create.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request

from footplate.api.request_bodies import read_body
from footplate.domain.errors import InvalidArgument

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_FORM_BYTES = 1 << 20
_FORM = "application/x-www-form-urlencoded"
_OTHERS = frozenset({"DELETE", "PATCH", "PUT"})


class MethodOverride:
    """Middleware that honours ``x-http-method-override`` on POST requests."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "POST":
            method = Headers(scope=scope).get("x-http-method-override", "").upper()
            if method == "GET":
                scope, receive = await _as_get(scope, receive)
            elif method in _OTHERS:
                scope = {**scope, "method": method}
            elif method not in ("", "POST"):
                allowed = "GET, POST, PUT, PATCH, DELETE"
                raise InvalidArgument(
                    f"x-http-method-override {method[:50]!r} given; allowed: {allowed}"
                )
        await self._app(scope, receive, send)


async def _as_get(scope: Scope, receive: Receive) -> tuple[Scope, Receive]:
    body = await read_body(Request(scope, receive), MAX_FORM_BYTES)
    query = scope["query_string"]
    headers = MutableHeaders(raw=list(scope["headers"]))
    if headers.get("content-type", "").partition(";")[0].strip().lower() == _FORM:
        query = b"&".join(part for part in (query, body.strip()) if part)
    for name in ("content-type", "content-length", "transfer-encoding"):
        del headers[name]
    changed = {**scope, "method": "GET", "query_string": query, "headers": headers.raw}
    return changed, _empty(receive)


def _empty(receive: Receive) -> Receive:
    """Returns a ``receive`` that gives an empty body, then the connection's end."""
    given = False

    async def read() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": b"", "more_body": False}

    return read
