"""Bodies of requests: how much is read, and of what type."""

from __future__ import annotations

import asyncio

import pytest
from starlette.requests import Request
from starlette.types import Message

from footplate.api.errors import PayloadTooLarge, UnsupportedMediaType
from footplate.api.request_bodies import MAX_JSON_BYTES, drop_body, read_body, require_json

LIMIT = 10


class Body:
    """A body in pieces of one limit's length; ``sent``: how many bytes of it were asked for."""

    def __init__(self, size: int) -> None:
        self._left = size
        self.sent = 0

    async def receive(self) -> Message:
        piece = bytes(min(LIMIT, self._left))
        self._left -= len(piece)
        self.sent += len(piece)
        return {"type": "http.request", "body": piece, "more_body": self._left > 0}

    def request(self) -> Request:
        return Request({"type": "http", "headers": []}, self.receive)


@pytest.mark.parametrize("size", [0, 1, LIMIT])
def test_a_body_within_the_limit_is_read_whole(size: int) -> None:
    assert asyncio.run(read_body(Body(size).request(), LIMIT)) == bytes(size)


@pytest.mark.parametrize(
    ("size", "sent"), [(LIMIT + 1, LIMIT + 1), (8 * LIMIT, 8 * LIMIT), (100 * LIMIT, 9 * LIMIT)]
)
def test_a_larger_one_is_read_on_for_a_while_and_refused(size: int, sent: int) -> None:
    body = Body(size)
    with pytest.raises(PayloadTooLarge, match=f"allowed: {LIMIT} bytes"):
        asyncio.run(read_body(body.request(), LIMIT))
    assert body.sent == sent


@pytest.mark.parametrize(("size", "sent"), [(LIMIT, LIMIT), (100 * LIMIT, 2 * LIMIT)])
def test_a_rejected_body_is_read_up_to_the_limit(size: int, sent: int) -> None:
    body = Body(size)
    asyncio.run(drop_body(body.request(), LIMIT))
    assert body.sent == sent


@pytest.mark.parametrize("given", ["application/json", "Application/JSON ; charset=utf-8"])
def test_json_is_accepted(given: str) -> None:
    require_json(Request({"type": "http", "headers": [(b"content-type", given.encode())]}))


@pytest.mark.parametrize("given", ["", "text/plain", "application/json5"])
def test_another_type_is_refused(given: str) -> None:
    with pytest.raises(UnsupportedMediaType, match="send the body as application/json"):
        require_json(Request({"type": "http", "headers": [(b"content-type", given.encode())]}))


def test_json_may_be_ten_mebibytes() -> None:
    assert MAX_JSON_BYTES == 10 * 1024 * 1024
