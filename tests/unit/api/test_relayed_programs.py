"""Calls of programs that a launcher passes on."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import httpx
import pytest
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route

from footplate.api.app import create_app
from footplate.api.relayed_programs import RelayedPrograms
from footplate.api.security import Access
from footplate.domain.errors import PermissionDenied

if TYPE_CHECKING:
    from starlette.requests import Request

KEY = "attempt/master/0/mac"


async def answer(request: Request) -> PlainTextResponse:
    return PlainTextResponse(str(request.url))


def check(key: str) -> None:
    if key != KEY:
        raise PermissionDenied("not a key")


def get(path: str, key: str = "") -> httpx.Response:
    access = Access(None, frozenset(), check)
    inner = [Middleware(RelayedPrograms, access=access)]
    app = create_app(
        [Mount("/programs", routes=[Route("/{rest:path}", answer)])], access, inner=inner
    )

    async def call() -> httpx.Response:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="https://127.0.0.1:7") as client:
            headers = {"authorization": f"Bearer {key}"} if key else {}
            return await client.get(path, headers=headers)

    return asyncio.run(call())


def test_links_lead_to_the_launchers_own_port_over_plain_http() -> None:
    assert get("/programs/x").text == "http://127.0.0.1:7/programs/x"


def test_a_key_opens_the_storage_api_at_the_root() -> None:
    assert get("/storage/v1/b", KEY).text == f"http://127.0.0.1:7/programs/{KEY}/storage/v1/b"


@pytest.mark.parametrize("path", ["/storage/v1/b", "/v1/projects/p/jobs"])
@pytest.mark.parametrize("key", ["", "another"])
def test_nothing_else_is_there(path: str, key: str) -> None:
    assert get(path, key).status_code == 404
