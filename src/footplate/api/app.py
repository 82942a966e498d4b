"""Creates the ASGI app: all APIs behind one set of middleware."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from uuid import uuid4

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Lifespan, Message, Receive, Scope, Send

from footplate.api.errors import ErrorShape, answer_router_error, answer_service_error
from footplate.api.request_bodies import read_body
from footplate.api.security import Access, SameOrigin, TokenCheck
from footplate.domain.errors import InvalidArgument, ServiceError


def _crash_id() -> str:
    return uuid4().hex[:12]


def create_app(
    routes: Sequence[BaseRoute],
    access: Access,
    *,
    inner: Sequence[Middleware] = (),
    lifespan: Lifespan[Starlette] | None = None,
    new_id: Callable[[], str] = _crash_id,
) -> Starlette:
    """Creates the ASGI application with its middleware.

    ``routes`` are tried in their order. ``inner`` is middleware that sees only calls of authorized
    callers. ``new_id`` makes the ids under which the log records internal errors.
    """
    app = Starlette(
        routes=routes,
        middleware=[
            Middleware(ErrorShape, new_id=new_id),
            Middleware(SameOrigin, host_names=access.host_names),
            Middleware(MethodOverride),
            Middleware(TokenCheck, access=access),
            *inner,
        ],
        exception_handlers={
            ServiceError: answer_service_error,
            HTTPException: answer_router_error,
        },
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return app


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
