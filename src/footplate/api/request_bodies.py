"""Reads request bodies, up to a size limit."""

from __future__ import annotations

from starlette.requests import Request

from footplate.api.errors import PayloadTooLarge, UnsupportedMediaType

MAX_JSON_BYTES = 10 << 20
_DRAINED = 8
"""How many times the limit is read and dropped, so that a client that is still sending gets
the answer and not a broken connection."""


async def read_body(request: Request, limit_bytes: int) -> bytes:
    """Returns the whole body.

    Raises:
        PayloadTooLarge: the body has more than ``limit_bytes``.
    """
    body, size = bytearray(), 0
    async for chunk in request.stream():
        size += len(chunk)
        if size <= limit_bytes:
            body += chunk
        elif size > _DRAINED * limit_bytes:
            break
    if size > limit_bytes:
        raise PayloadTooLarge(f"the body is too large; allowed: {limit_bytes} bytes")
    return bytes(body)


async def drop_body(request: Request, limit_bytes: int) -> None:
    """Reads the rest of a rejected body, so that the client receives the response."""
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit_bytes:
            break


def require_json(request: Request) -> None:
    """Rejects a body with another content type, such as a web form.

    Raises:
        UnsupportedMediaType: the content type is wrong; the message says which one to send.
    """
    given = request.headers.get("content-type", "")
    if given.partition(";")[0].strip().lower() != "application/json":
        raise UnsupportedMediaType(
            f"Content-Type {given[:100]!r} given; send the body as application/json"
        )
