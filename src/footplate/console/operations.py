"""Calls of the service's HTTP operations in this process, with the rights of a page's reader."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.types import ASGIApp, Scope

from footplate.domain import errors
from footplate.wire.asgi_call import call_asgi, json_headers
from footplate.wire.json_text import JsonObject
from footplate.wire.scope_keys import BY_CONSOLE, PEER

_KEPT_HEADERS = (b"host", b"user-agent")
"""Of the browser's request: what the service checks, and what messages say of the caller."""
_ERRORS = {
    HTTPStatus.BAD_REQUEST: errors.InvalidArgument,
    HTTPStatus.FORBIDDEN: errors.PermissionDenied,
    HTTPStatus.NOT_FOUND: errors.NotFound,
    HTTPStatus.CONFLICT: errors.Aborted,
    HTTPStatus.TOO_MANY_REQUESTS: errors.ResourceExhausted,
    HTTPStatus.SERVICE_UNAVAILABLE: errors.Unavailable,
}


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes

    def document(self) -> JsonObject:
        """Returns the JSON of the answer, or raises the error that it holds."""
        found: JsonObject = json.loads(self.body or b"{}")
        if self.status < HTTPStatus.BAD_REQUEST:
            return found
        raise self.error()

    def error(self) -> errors.ServiceError:
        try:
            message = str(json.loads(self.body)["error"]["message"])
        except (ValueError, KeyError, TypeError):
            message = f"HTTP {self.status}"
        return _ERRORS.get(HTTPStatus(self.status), errors.Internal)(message)


async def call_operation(
    app: ASGIApp,
    request: Request,
    token: str | None,
    method: str,
    path: str,
    query: Mapping[str, str | Sequence[str]],
    body: JsonObject | None = None,
) -> Answer:
    """Calls ``app`` on the connection of ``request``; sends ``token`` if there is one."""
    raw = b"" if body is None else json.dumps(body).encode()
    scope = make_scope(request, token, method, path, query, raw)
    answer = await call_asgi(app, scope, raw)
    return Answer(answer.status, answer.body)


def make_scope(
    request: Request,
    token: str | None,
    method: str,
    path: str,
    query: Mapping[str, str | Sequence[str]],
    raw: bytes = b"",
) -> Scope:
    """Returns the scope of a call with the body ``raw`` on the connection of ``request``."""
    headers = [pair for pair in request.scope["headers"] if pair[0] in _KEPT_HEADERS]
    if token:
        headers.append((b"authorization", f"Bearer {token}".encode()))
    headers += json_headers(raw)
    kept = ("type", "asgi", "http_version", "scheme", "client", "server", PEER)
    return {name: request.scope[name] for name in kept if name in request.scope} | {
        "method": method,
        "path": path,
        "raw_path": quote(path).encode(),
        "root_path": "",
        "query_string": urlencode(query, doseq=True).encode(),
        "headers": headers,
        BY_CONSOLE: True,
    }
