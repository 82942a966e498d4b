"""What the programs of jobs may ask of a server."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from footplate.api.app import create_app
from footplate.api.program_calls import ProgramCallCheck
from footplate.api.security import Access
from footplate.api.training_v1 import training_routes
from footplate.domain.errors import PermissionDenied
from footplate.domain.names import TrainingJobName
from footplate.wire.scope_keys import PEER
from tests.support.catalogue import built_in
from tests.support.http_server import serve
from tests.support.jobs_service import MemoryJobs

REFUSED = "programs may not call"
PATHS = ("/v1/projects/p/jobs", "/storage/v1/b/x", "/footplate/v1/status", "/jobs", "/console/x")
REQUEST = {
    "jobId": "census_1",
    "trainingInput": {
        "scaleTier": "BASIC",
        "region": "us-central1",
        "runtimeVersion": "2.11",
        "pythonVersion": "3.7",
        "packageUris": ["gs://b/trainer.tar.gz"],
        "pythonModule": "trainer.task",
    },
}
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


@pytest.mark.parametrize(
    ("job", "forwarded", "author"),
    [
        ("", "", "ann"),
        ("", "203.0.113.9", "203.0.113.9"),
        ("projects/p/jobs/sweep", "", "projects/p/jobs/sweep"),
    ],
)
def test_a_jobs_author_is_who_has_the_connection(job: str, forwarded: str, author: str) -> None:
    """Behind a proxy of this machine it is who calls that one; of a program it is its job."""
    jobs = MemoryJobs()
    inner = [
        Middleware(
            ProgramCallCheck, access=Access(), check=lambda *_: job, name_user=lambda *_: "ann"
        )
    ]
    app = create_app(training_routes(jobs, built_in(), jobs.kept_trials), Access(), inner=inner)

    async def receive_from(scope: Scope, receive: Receive, send: Send) -> None:
        """As the server does where it believes a proxy."""
        client = (forwarded, 0) if forwarded else scope.get("client")
        await app({**scope, PEER: scope.get("client"), "client": client}, receive, send)

    with serve(receive_from) as url:
        sent = httpx.post(f"{url}/v1/projects/p/jobs", json=REQUEST)
    sent.raise_for_status()
    assert jobs.get(TrainingJobName("p", "census_1")).author == author
