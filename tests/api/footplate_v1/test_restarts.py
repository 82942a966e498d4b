"""How often jobs started again, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest

from footplate.api.app import create_app
from footplate.api.footplate_v1.routes import About, footplate_routes
from footplate.api.security import Access
from footplate.client.service import Service
from footplate.control.status import Status
from footplate.domain.jobs import Replica
from footplate.wire.restart_counts import MOST_NAMES
from tests.support.clock import FakeClock
from tests.support.http_server import serve
from tests.support.jobs import make_job
from tests.support.store import MemoryStore

STEADY = "projects/demo/jobs/steady"
UNLUCKY = "projects/demo/jobs/unlucky"
CUSTOM = "projects/demo/locations/us-central1/customJobs/7"


@pytest.fixture
def url() -> Iterator[str]:
    store = MemoryStore()
    for name, losses in ((STEADY, (0, 0)), (UNLUCKY, (2, 1)), (CUSTOM, (4,))):
        replicas = tuple(Replica(f"r-{at}", losses=count) for at, count in enumerate(losses))
        store.create(replace(make_job(name), replicas=replicas), ())
    status = Status(store, FakeClock(), wake=lambda: None)
    about = About("0", "http://127.0.0.1:1", 1, "/data")
    routes = footplate_routes(status, store, about, end=lambda: None)
    with serve(create_app(routes, Access())) as url:
        yield url


def test_those_that_started_again_are_told(url: str) -> None:
    with Service(url) as service:
        found = service.restarts([STEADY, UNLUCKY, CUSTOM, "projects/demo/jobs/nobody"])
    assert found == {UNLUCKY: 3, CUSTOM: 4}


def test_any_number_of_jobs_may_be_asked_for(url: str) -> None:
    others = [f"projects/demo/jobs/j{number}" for number in range(MOST_NAMES)]
    with Service(url) as service:
        assert service.restarts([*others, UNLUCKY]) == {UNLUCKY: 3}


@pytest.mark.parametrize(
    "body", [{}, {"names": "a"}, {"names": [1]}, {"names": [STEADY] * (MOST_NAMES + 1)}]
)
def test_what_is_no_list_of_names_is_refused(body: dict[str, object], url: str) -> None:
    answer = httpx.post(f"{url}/footplate/v1/restarts", json=body)
    assert answer.status_code == 400
    assert (
        answer.json()["error"]["message"] == "names: allowed: a list of at most 500 names of jobs"
    )
