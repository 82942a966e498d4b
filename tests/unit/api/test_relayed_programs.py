"""Calls of programs that a launcher passes on."""

from __future__ import annotations

import asyncio

import httpx
import pytest
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route

from footplate.api.app import create_app
from footplate.api.relayed_programs import RelayedPrograms
from footplate.api.security import Access
from footplate.domain.errors import NotFound, PermissionDenied
from footplate.wire.scope_keys import PROGRAM

KEY, CALLING, REFUSED = "attempt/master/0/mac", "calls", "may not call"
JOB = "projects/p/jobs/job_1"
PREFIXES = ("/programs", "/replica", "/v1", "/storage")


async def answer(request: Request) -> PlainTextResponse:
    return PlainTextResponse(str(request.url), headers={"x-job": request.scope.get(PROGRAM, "")})


def check(key: str) -> None:
    if key != KEY:
        raise PermissionDenied("not a key")


def check_call(key: str) -> str:
    if key in (KEY, REFUSED):
        raise PermissionDenied("not this program")
    if key != CALLING:
        raise NotFound("no key")
    return JOB


def get(path: str, key: str = "") -> httpx.Response:
    access = Access(None, frozenset(), check)
    inner = [Middleware(RelayedPrograms, access=access, check_call=check_call)]
    routes = [Mount(prefix, routes=[Route("/{rest:path}", answer)]) for prefix in PREFIXES]
    app = create_app(routes, access, inner=inner)

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


def test_a_program_that_may_call_calls_with_its_key() -> None:
    called = get("/v1/projects/p/jobs", CALLING)
    assert called.text == "http://127.0.0.1:7/v1/projects/p/jobs"
    assert called.headers["x-job"] == JOB, "it is recorded as this job's"
    url = "http://127.0.0.1:7/storage/v1/b"
    assert get("/storage/v1/b", CALLING).text == url, "all buckets, as users"


@pytest.mark.parametrize("key", [KEY, REFUSED])
def test_others_are_refused(key: str) -> None:
    assert get("/v1/projects/p/jobs", key).status_code == 403


def test_what_has_tokens_of_its_own_decides_by_itself() -> None:
    assert get("/replica/v1/task", "a supervisor's token").status_code == 200
