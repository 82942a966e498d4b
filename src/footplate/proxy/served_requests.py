"""Requests for Google's hosts, as the app of this service takes them."""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import quote, unquote

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from footplate.api.security import (
    DISCOVERY_PREFIXES,
    OWN_URL,
    SERVED_HOST,
    lead_to_key,
    path_of_key,
)
from footplate.domain.errors import PermissionDenied
from footplate.proxy.hosts import ServedHost
from footplate.wire.status import error_json

_API_PREFIXES = (
    *("/storage/", "/upload/", "/download/", "/resumable/", "/batch/"),
    *DISCOVERY_PREFIXES,
)
_TOKEN_PATHS = ("/o/oauth2/token", "/o/oauth2/v2/token", "/oauth2/v3/token", "/oauth2/v4/token")
_TOKEN = "/token"  # noqa: S105  a path
_CASED = {name.lower(): name for name in (b"Location", b"Range")}
"""Headers of resumable uploads, which TensorFlow finds in Google's own spelling alone."""
_OF_THE_PROXY = (b"proxy-authorization", b"proxy-connection")


class RefusedRequests:
    """Answers like Google for a product that isn't enabled, which clients don't retry."""

    def __init__(self, why: str) -> None:
        self._answer = JSONResponse(error_json(PermissionDenied(why)), HTTPStatus.FORBIDDEN)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._answer(scope, receive, send)


class _Cased(bytes):
    """A header's name that keeps its case; uvicorn changes all others to lower case."""

    def lower(self) -> _Cased:
        return self


class ServedRequests:
    """Passes requests for a served host to the app.

    ``authorization`` replaces the header that the client sends; None keeps that. ``once`` ends the
    connection after the first answer, since the next request may be for another host. ``key`` is
    that of a program, which reaches only its buckets and its job's log. ``url`` is this server's
    own.
    """

    def __init__(
        self,
        app: ASGIApp,
        host: ServedHost,
        authorization: str | None,
        *,
        once: bool,
        key: str | None = None,
        url: str = "",
    ) -> None:
        self._url = url
        self._app = RefusedRequests(host.refused) if host.refused else app
        self._host = host
        self._authorization = authorization
        self._once = once
        self._key = key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [
                    (_Cased(_CASED[name]) if name in _CASED else name, value)
                    for name, value in message.get("headers", ())
                ]
                ending = [(b"connection", b"close")] if self._once else []
                message["headers"] = headers + ending
            await send(message)

        if scope["type"] == "http":
            scope = self._rewrite(scope)
        await self._app(scope, receive, answer)

    def _rewrite(self, scope: Scope) -> Scope:
        headers = [line for line in scope["headers"] if line[0] not in _OF_THE_PROXY]
        if self._authorization is not None:
            headers = [line for line in headers if line[0] != b"authorization"]
            headers.append((b"authorization", self._authorization.encode()))
        changed = {**scope, "headers": headers, SERVED_HOST: self._host.name, OWN_URL: self._url}
        path: str = scope["path"]
        if self._key is not None and not path.startswith(DISCOVERY_PREFIXES):
            return self._lead_to_buckets(changed, self._key)
        if path in _TOKEN_PATHS:
            return {**changed, "path": _TOKEN, "raw_path": _TOKEN.encode()}
        if self._host.is_storage and not path.startswith(_API_PREFIXES):
            return self._lead_to_object(changed)
        return changed

    def _lead_to_buckets(self, scope: Scope, key: str) -> Scope:
        """Puts the key into the address; links from earlier answers contain it already."""
        path = scope["path"]
        own = path_of_key(key)
        if path.startswith(f"{own}/"):
            return scope
        if self._host.is_storage and not path.startswith(_API_PREFIXES):
            scope = self._lead_to_object(scope)
        return lead_to_key(scope, key)

    def _lead_to_object(self, scope: Scope) -> Scope:
        """Rewrites ``/BUCKET/OBJECT`` of the XML API to the path of the object's content."""
        raw: bytes = scope.get("raw_path") or quote(scope["path"]).encode()
        bucket, _, name = raw.decode("latin-1").lstrip("/").partition("/")
        if self._host.bucket:
            bucket, name = self._host.bucket, raw.decode("latin-1")[1:]
        if not bucket or not name or scope["method"] not in {"GET", "HEAD"}:
            return scope
        try:
            encoded = quote(unquote(name, errors="strict"), safe="")
        except UnicodeDecodeError:
            return scope
        path = f"/download/storage/v1/b/{bucket}/o/{encoded}"
        query = b"&".join(filter(None, [b"alt=media", scope["query_string"]]))
        return {
            **scope,
            "path": unquote(path),
            "raw_path": path.encode("latin-1"),
            "query_string": query,
        }
