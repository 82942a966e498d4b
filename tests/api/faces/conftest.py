"""The faces behind a real HTTP server, and in memory what is behind them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from google.auth.credentials import AnonymousCredentials
from prometheus_client import CollectorRegistry
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from footplate.api.app import create_app
from footplate.api.cloud_projects import cloud_project_routes
from footplate.api.health import health_routes
from footplate.api.locations import location_routes
from footplate.api.operations import operation_routes
from footplate.api.security import Access
from footplate.api.training_v1 import study_routes, training_routes
from footplate.api.vertex_v1 import model_routes, vertex_routes, vizier_routes
from footplate.catalogue import load_catalogue
from footplate.control.models import ModelRegistry
from footplate.domain.job_states import State
from footplate.domain.jobs import Job
from tests.support.deadlines import EVENT_S
from tests.support.http_server import serve
from tests.support.jobs_service import MemoryJobs
from tests.support.models import MemoryFiles, MemoryModels
from tests.support.vizier import CountingIds, memory_vizier


def crash(_request: Request) -> Response:
    raise RuntimeError("a secret of the inside")


def _shells(job: Job) -> dict[str, str]:
    """One for each replica of a job that runs and asks for them."""
    opens = job.state is State.RUNNING and job.spec.web_access and job.spec.search is None
    return {name: f"/shell/v1/{name}" for name in job.spec.replica_names() if opens}


def build(jobs: MemoryJobs, access: Access, files: MemoryFiles | None = None) -> Starlette:
    registry = ModelRegistry(MemoryModels(), files or MemoryFiles(), jobs.clock, CountingIds())
    vizier, catalogue = memory_vizier(jobs.clock), load_catalogue()
    routes = [
        *health_routes("1.2.3", CollectorRegistry(), lambda: {"dataDir": "here"}),
        *training_routes(jobs, load_catalogue(), jobs.kept_trials, _shells),
        *study_routes(vizier, jobs.clock, catalogue),
        *vizier_routes(vizier, jobs.clock, catalogue),
        *vertex_routes(jobs, jobs.clock, load_catalogue(), jobs.kept_trials, _shells),
        *model_routes(registry, jobs.clock, load_catalogue()),
        *operation_routes(jobs, registry.exists),
        *location_routes(load_catalogue()),
        *cloud_project_routes(),
        Route("/v1/crash", crash),
        Route("/replica/v1/crash", crash),
    ]
    return create_app(routes, access, new_id=lambda: "c0ffee")


@pytest.fixture
def anonymous() -> Any:
    """Google's credentials for nobody. Any: their classes have no types."""
    make: Any = AnonymousCredentials
    return make()


@pytest.fixture
def jobs() -> MemoryJobs:
    return MemoryJobs()


class Switch:
    """One server for many apps: each test puts its own behind it."""

    def __init__(self, url: str = "") -> None:
        self.url = url
        self.app: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.app is not None and scope["type"] == "http":
            await self.app(scope, receive, send)


@pytest.fixture(scope="session")
def switch() -> Iterator[Switch]:
    made = Switch()
    with serve(made) as made.url:
        yield made


@pytest.fixture
def files() -> MemoryFiles:
    """What is in the bucket ``b``."""
    return MemoryFiles()


@pytest.fixture
def url(switch: Switch, jobs: MemoryJobs, files: MemoryFiles) -> str:
    switch.app = build(jobs, Access(), files)
    return switch.url


@pytest.fixture
def http(url: str) -> Iterator[httpx.Client]:
    """A client that waits for models that are fitted on a busy machine."""
    with httpx.Client(base_url=url, timeout=EVENT_S) as client:
        yield client


@pytest.fixture
def guarded(switch: Switch, jobs: MemoryJobs) -> Iterator[httpx.Client]:
    """A server that wants the token ``s3cret`` and may be called ``box.lan``."""
    switch.app = build(jobs, Access(token="s3cret", host_names=frozenset({"Box.lan"})))
    with httpx.Client(base_url=switch.url) as client:
        yield client
