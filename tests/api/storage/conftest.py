from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from google.auth.credentials import AnonymousCredentials
from google.cloud import storage
from starlette.applications import Starlette
from starlette.exceptions import HTTPException

from footplate.api.errors import answer_router_error, answer_service_error
from footplate.api.storage_v1 import program_routes, storage_routes
from footplate.buckets.folder_buckets import FolderBuckets
from footplate.domain.errors import PermissionDenied, ServiceError
from footplate.server.clock import SystemClock
from tests.support.http_server import serve


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "buckets"


@pytest.fixture
def buckets(root: Path) -> Iterator[FolderBuckets]:
    made = FolderBuckets(root, SystemClock())
    made.create_bucket("stage")
    yield made
    made.close()


@pytest.fixture
def server(buckets: FolderBuckets) -> Iterator[str]:
    routes = storage_routes(buckets)
    handlers = {ServiceError: answer_service_error, HTTPException: answer_router_error}
    routes_of_all = [*routes, program_routes("/programs", check, lambda _: routes)]
    with serve(Starlette(routes=routes_of_all, exception_handlers=handlers)) as found:
        yield found


@pytest.fixture
def url(server: str) -> str:
    return server


@pytest.fixture
def program_url(server: str) -> str:
    """Where the programs of jobs find it."""
    return f"{server}/programs/KEY"


def check(key: str) -> None:
    if key != "KEY":
        raise PermissionDenied("it is no key")


@pytest.fixture
def http(url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=url, timeout=60) as client:
        yield client


@pytest.fixture
def client(url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[storage.Client]:
    """The real one, pointed here as its users are told to."""
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", url)
    make_credentials: Any = AnonymousCredentials
    made = storage.Client(project="demo", credentials=make_credentials())
    yield made
    made.close()
