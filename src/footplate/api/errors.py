"""Turns every error into a response in Google's format, without leaking internals."""

from __future__ import annotations

import logging
from collections.abc import Callable
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from footplate.api.unserved_resources import answer_unserved
from footplate.domain.errors import (
    Cancelled,
    Internal,
    InvalidArgument,
    NotFound,
    PermissionDenied,
    ServiceError,
    Unimplemented,
)
from footplate.wire.status import error_json

_LOG = logging.getLogger(__name__)
_NO_ROUTE = (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED)
_MAX_SHOWN = 200
_ANSWERED = ("http", "websocket")
_BEGINNINGS = frozenset(
    {
        "http.response.start",
        "websocket.accept",
        "websocket.close",
        "websocket.http.response.start",
    }
)
"""After one of these it is too late for an answer; a WebSocket has one too until it is accepted."""


class MethodNotAllowed(Unimplemented):
    http_status = HTTPStatus.METHOD_NOT_ALLOWED


class PayloadTooLarge(InvalidArgument):
    http_status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE


class UnsupportedMediaType(InvalidArgument):
    http_status = HTTPStatus.UNSUPPORTED_MEDIA_TYPE


class ErrorShape:
    """The outermost middleware: turns every exception into a response.

    An error that isn't one of ours is logged with an id, and the client gets the id alone.
    """

    def __init__(self, app: ASGIApp, new_id: Callable[[], str]) -> None:
        self._app = app
        self._new_id = new_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in _ANSWERED:
            await self._app(scope, receive, send)
            return
        started = False

        async def watch(message: Message) -> None:
            nonlocal started
            started = started or message["type"] in _BEGINNINGS
            await send(message)

        try:
            await self._app(scope, receive, watch)
        except Exception as error:
            if started:
                raise  # too late for an answer: the server closes the connection
            answer = error_response(self._translate(error, scope))
            await answer(scope, receive, send)

    def _translate(self, error: Exception, scope: Scope) -> ServiceError:
        if isinstance(error, ServiceError):
            return error
        if isinstance(error, HTTPException) and scope["type"] == "http":
            return _router_error(error, Request(scope))
        if isinstance(error, ClientDisconnect):
            return Cancelled("the client has closed the connection")
        crash = self._new_id()
        method = scope.get("method", "WebSocket")
        _LOG.error("crash %s in %s %s", crash, method, scope["path"], exc_info=error)
        return Internal(f"internal error {crash}; the server's log has more under this id")


def error_response(error: ServiceError, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse(error_json(error), int(error.http_status), headers)


async def answer_service_error(_request: Request, error: Exception) -> Response:
    """Answers a ServiceError; an entry of Starlette's table of handlers."""
    if not isinstance(error, ServiceError):
        raise error
    return error_response(error)


async def answer_router_error(request: Request, error: Exception) -> Response:
    """Answers 404, 405 and the like; an entry of Starlette's table of handlers."""
    if not isinstance(error, HTTPException):
        raise error
    if error.status_code in _NO_ROUTE:
        try:
            answer = answer_unserved(request.method, request.url.path)
        except ServiceError as refusal:
            return error_response(refusal)
        if answer is not None:
            return JSONResponse(answer)
    return error_response(_router_error(error, request), dict(error.headers or {}))


def _router_error(error: HTTPException, request: Request) -> ServiceError:
    path = request.url.path[:_MAX_SHOWN]
    match error.status_code:
        case HTTPStatus.NOT_FOUND:
            return NotFound(f"nothing is served at {path}")
        case HTTPStatus.METHOD_NOT_ALLOWED:
            allowed = (error.headers or {}).get("Allow", "other methods")
            return MethodNotAllowed(f"{request.method} given at {path}; allowed: {allowed}")
        case HTTPStatus.FORBIDDEN:
            return PermissionDenied(error.detail)
        case status if status < HTTPStatus.INTERNAL_SERVER_ERROR:
            return InvalidArgument(error.detail)
        case _:
            return Internal(error.detail)
