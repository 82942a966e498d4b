"""Hands a file of a bucket to the reader, never as a page: browsers save it."""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import quote

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from footplate.console.operations import make_scope
from footplate.console.site import Visit

_KEPT = (b"content-length",)
"""Of the storage operation's headers. What type of file it says to be is what its owner wrote."""
_OWN = [
    (b"content-type", b"application/octet-stream"),
    (b"content-security-policy", b"sandbox; default-src 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]


async def download(visit: Visit, bucket: str, name: str) -> Response:
    """Returns an object as an attachment. Raises NotFound, PermissionDenied."""
    await visit.get(f"/storage/v1/b/{bucket}/o/{name}")
    path = f"/download/storage/v1/b/{bucket}/o/{name}"
    scope = make_scope(visit.request, visit.token, "GET", path, {"alt": "media"})
    return _Attachment(visit.site.app(), scope, name.rpartition("/")[2])


class _Attachment(Response):
    """A response that passes on the operation's answer, piece by piece."""

    def __init__(self, app: ASGIApp, operation: Scope, filename: str) -> None:
        super().__init__()
        self._app = app
        self._operation = operation
        self._named = f"attachment; filename*=UTF-8''{quote(filename, safe='')}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del scope  # that of the page; the operation has its own

        async def forward(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == HTTPStatus.OK:
                kept = [pair for pair in message.get("headers", ()) if pair[0] in _KEPT]
                named = (b"content-disposition", self._named)
                message = {**message, "headers": [*kept, *_OWN, named]}
            await send(message)

        await self._app(self._operation, receive, forward)
