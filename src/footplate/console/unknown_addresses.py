"""Shows a page to browsers that ask for an address at which nothing is served."""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import urlencode

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from footplate.console.site import Site, Visit
from footplate.domain.errors import NotFound

_PATH = "/not-found"
_OF_PROGRAMS = frozenset(
    {
        *("v1", "v1beta1", "v2", "ui", "footplate", "storage", "upload", "download", "resumable"),
        *("batch", "replica", "launcher", "shell", "programs", "discovery", "$discovery"),
        *("computeMetadata", "console", "healthz", "metrics"),
    }
)
"""The first parts of addresses whose errors stay JSON: some clients of APIs accept HTML, too."""
_REPLACED = (HTTPStatus.NOT_FOUND, HTTPStatus.FORBIDDEN)


class UnknownAddresses:
    """The outermost middleware, which answers unknown addresses with a page for browsers.

    It ignores requests to another host, which are marked by ``elsewhere`` in the scope.
    """

    def __init__(self, app: ASGIApp, elsewhere: str) -> None:
        self._app = app
        self._elsewhere = elsewhere

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._is_visit(scope):
            await self._app(scope, receive, send)
            return
        replaced = False

        async def forward(message: Message) -> None:
            nonlocal replaced
            if message["type"] == "http.response.start":
                kind = Headers(raw=message.get("headers", [])).get("content-type", "")
                replaced = message["status"] in _REPLACED and kind == "application/json"
            if not replaced:
                await send(message)

        await self._app(scope, receive, forward)
        if replaced:
            query = urlencode({"path": scope["path"]}).encode()
            page = {"path": _PATH, "raw_path": _PATH.encode(), "query_string": query}
            await self._app({**scope, **page}, receive, send)

    def _is_visit(self, scope: Scope) -> bool:
        if scope["type"] != "http" or scope["method"] != "GET" or self._elsewhere in scope:
            return False
        first = scope["path"].split("/", 2)[1:2]
        accepted = Headers(scope=scope).get("accept", "")
        return first != [] and first[0] not in _OF_PROGRAMS and "text/html" in accepted


def unknown_address_routes(site: Site) -> list[Route]:
    return [site.page(_PATH, _show, signed_in=False)]


async def _show(visit: Visit) -> Response:
    """Raises NotFound; redirects to the sign-in page first if the server has a token."""
    path = visit.parameter("path") or _PATH
    if visit.site.sessions.needed and visit.token is None:
        return visit.site.to_sign_in(visit, path)
    raise NotFound(f"This server has no page at {path[:200]}")
