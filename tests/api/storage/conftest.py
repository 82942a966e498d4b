from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from google.auth.credentials import AnonymousCredentials
from google.cloud import storage
from starlette.applications import Starlette

from footplate.api.storage_v1 import storage_routes
from footplate.buckets.folders import FolderBuckets
from footplate.server.clock import SystemClock
from footplate.testing.http_server import serve


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
def url(buckets: FolderBuckets) -> Iterator[str]:
    with serve(Starlette(routes=storage_routes(buckets))) as found:
        yield found


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
