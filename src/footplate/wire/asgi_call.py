"""Calls an HTTP app in this process."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Scope

Headers = list[tuple[bytes, bytes]]


@dataclass
class AppAnswer:
    status: int = 500
    headers: Headers = field(default_factory=list)
    body: bytes = b""


async def call_asgi(app: ASGIApp, scope: Scope, body: bytes = b"") -> AppAnswer:
    """Returns the whole answer of ``app``.

    Some apps wait until the client has gone: it goes once it has its answer.
    """
    answer, content = AppAnswer(), bytearray()
    answered, unread = asyncio.Event(), [body]

    async def receive() -> Message:
        if unread:
            return {"type": "http.request", "body": unread.pop(), "more_body": False}
        await answered.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            answer.status, answer.headers = message["status"], list(message["headers"])
            return
        content.extend(message.get("body", b""))
        if not message.get("more_body", False):
            answered.set()

    await app(scope, receive, send)
    answer.body = bytes(content)
    return answer


def json_headers(body: bytes | None) -> Headers:
    """Returns the headers that a request with this body needs; none without a body."""
    if not body:
        return []
    length = str(len(body)).encode()
    return [(b"content-type", b"application/json"), (b"content-length", length)]
