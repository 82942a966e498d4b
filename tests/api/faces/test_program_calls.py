"""What the programs of jobs may ask of a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from footplate.api.app import create_app
from footplate.api.program_calls import ProgramCallCheck
from footplate.api.security import Access
from footplate.domain.errors import PermissionDenied
from tests.support.http_server import serve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.requests import Request

REFUSED = "programs may not call"
PATHS = ("/v1/projects/p/jobs", "/storage/v1/b/x", "/footplate/v1/status", "/jobs", "/console/x")
OPEN = (
    *("/healthz", "/replica/v1/task", "/shell/x", "/programs/key/storage/v1/b/x"),
    *("/discovery/v1/apis/ml/v1/rest", "/$discovery/rest"),
)


def check_key(key: str) -> None:
    if key != "key":
        raise PermissionDenied("no key")


class Gate:
    """Refuses all, or nobody; remembers who was asked about."""

    def __init__(self) -> None:
        self.refuses = True
        self.asked: list[tuple[tuple[str, int], tuple[str, int]]] = []

    def check(self, client: tuple[str, int], server: tuple[str, int]) -> str:
        self.asked.append((client, server))
        if self.refuses:
            raise PermissionDenied(REFUSED)
        return ""


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def client(gate: Gate) -> Iterator[httpx.Client]:
    access = Access(check_key=check_key)
    inner = [Middleware(ProgramCallCheck, access=access, check=gate.check)]
    routes = [Route(path, _answer, methods=["GET", "POST"]) for path in PATHS + OPEN]
    with (
        serve(create_app(routes, access, inner=inner)) as url,
        httpx.Client(base_url=url, trust_env=False) as client,
    ):
        yield client


async def _answer(_request: Request) -> PlainTextResponse:
    return PlainTextResponse("done")


@pytest.mark.parametrize("path", PATHS)
def test_a_programs_call_is_refused(client: httpx.Client, path: str) -> None:
    answer = client.post(path, json={})
    assert (answer.status_code, REFUSED in answer.text) == (403, True)


@pytest.mark.parametrize("path", PATHS)
def test_others_are_let_in(client: httpx.Client, gate: Gate, path: str) -> None:
    gate.refuses = False
    assert client.get(path).text == "done"
    ((_, port), server) = gate.asked[0]
    assert port > 0
    assert server == (client.base_url.host, client.base_url.port)


@pytest.mark.parametrize("path", OPEN)
def test_what_has_keys_of_its_own_is_not_asked_about(
    client: httpx.Client, gate: Gate, path: str
) -> None:
    assert client.get(path).text == "done"
    assert gate.asked == []


def test_a_programs_key_opens_the_storage_api_only(client: httpx.Client) -> None:
    headers = {"Authorization": "Bearer key"}
    statuses = [client.get(path, headers=headers).status_code for path in PATHS]
    assert statuses == [403, 200, 403, 403, 403]
    wrong = {"Authorization": "Bearer other"}
    assert client.get("/storage/v1/b/x", headers=wrong).status_code == 403
