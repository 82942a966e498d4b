"""The metadata server of programs over HTTP: what Google's library finds, and who gets nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import google.auth
import google.auth.jwt
import httpx
import pytest
from google.auth import compute_engine
from google.auth.compute_engine import _metadata
from google.auth.transport.requests import Request
from google.oauth2 import id_token
from starlette.applications import Starlette

from footplate.api.errors import answer_service_error
from footplate.api.metadata_v1 import metadata_routes
from footplate.api.refused_products import refused_product_routes
from footplate.control.program_metadata import ProgramMetadata
from footplate.control.program_storage import ProgramStorage
from footplate.control.tokens import Bearer
from footplate.domain.errors import ServiceError
from footplate.server.clock import SystemClock
from tests.support.http_server import serve
from tests.support.program_keys import MASTER, SECRET, store_running_job
from tests.support.store import MemoryStore

ACCOUNT = "/computeMetadata/v1/instance/service-accounts/default"
FLAVOR = {"Metadata-Flavor": "Google"}
SERVICES = ("GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """As in GCE_METADATA_HOST, of a program of the project ``demo``."""
    store = MemoryStore()
    job = store_running_job(store)
    storage = ProgramStorage(store, SECRET, "")
    metadata = ProgramMetadata(storage.find, {}, SECRET, SystemClock())
    routes = [*metadata_routes("/programs", metadata), *refused_product_routes("/programs")]
    app = Starlette(routes=routes, exception_handlers={ServiceError: answer_service_error})
    with serve(app) as url:
        yield url.partition("://")[2] + storage.path(Bearer(job.attempt_id, MASTER))


@pytest.fixture
def program(address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """This process finds what a program finds."""
    for name in SERVICES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
    monkeypatch.setenv("GCE_METADATA_IP", address)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(_metadata, "_GCE_METADATA_HOST", address)
    monkeypatch.setattr(_metadata, "_NO_GCE_CHECK", False, raising=False)


def get(address: str, path: str, **headers: str) -> httpx.Response:
    return httpx.get(f"http://{address}{path}", headers={**FLAVOR, **headers})


@pytest.mark.usefixtures("program")
def test_googles_library_finds_credentials_and_the_project(address: str) -> None:
    credentials, project = google.auth.default()
    assert isinstance(credentials, compute_engine.Credentials)
    assert project == "demo"
    credentials.refresh(Request())
    assert credentials.token == address.rpartition("/")[2]
    assert credentials.service_account_email == "program@footplate.invalid"
    assert credentials.universe_domain == "googleapis.com"


@pytest.mark.usefixtures("program")
def test_googles_library_finds_an_identity(address: str) -> None:
    token = id_token.fetch_id_token(Request(), "https://example.com")
    claims = google.auth.jwt.decode(token, verify=False)
    assert claims["iss"] == "https://footplate.invalid"
    assert address.rpartition("/")[2] not in token


@pytest.mark.parametrize("path", ["", "/", "/computeMetadata", "/computeMetadata/"])
def test_a_metadata_server_is_there(address: str, path: str) -> None:
    answer = get(address, path)
    assert answer.status_code == 200
    assert answer.headers["metadata-flavor"] == "Google"


@pytest.mark.parametrize(
    ("query", "kind", "text"),
    [
        ("", "application/text", "project-id"),
        ("?recursive=true", "application/json", '"projectId":"demo"'),
        ("?alt=json", "application/json", '"projectId":"demo"'),
    ],
)
def test_directories(address: str, query: str, kind: str, text: str) -> None:
    answer = get(address, f"/computeMetadata/v1/project/{query}")
    assert answer.headers["content-type"].partition(";")[0] == kind
    assert text in answer.text


@pytest.mark.parametrize(
    ("path", "headers", "status", "said"),
    [
        (f"{ACCOUNT}/token", {"Metadata-Flavor": ""}, 403, "Metadata-Flavor: Google is missing"),
        (f"{ACCOUNT}/token", {"X-Forwarded-For": "192.0.2.7"}, 403, "X-Forwarded-For"),
        (f"{ACCOUNT}/identity", {}, 400, "audience"),
        ("/computeMetadata/v1/instance/gpu", {}, 404, "has no 'instance/gpu'"),
    ],
)
def test_what_is_refused(
    address: str, path: str, headers: dict[str, str], status: int, said: str
) -> None:
    answer = get(address, path, **headers)
    assert (answer.status_code, said in answer.text) == (status, True)
    assert answer.headers["metadata-flavor"] == "Google"


@pytest.mark.parametrize("path", ["", "/computeMetadata/v1/project/project-id", f"{ACCOUNT}/token"])
def test_a_wrong_key_opens_nothing(address: str, path: str) -> None:
    answer = get(address.replace("/programs/", "/programs/x"), path)
    assert answer.status_code == 403
    assert address.rpartition("/")[2] not in answer.text


def test_other_products_are_refused_by_their_names(address: str) -> None:
    server = address.partition("/")[0]
    url = f"http://{server}/programs/-/pubsub.googleapis.com/v1/projects/demo/topics/t:publish"
    answer = httpx.post(url, json={})
    assert answer.status_code == 403
    assert answer.json()["error"]["status"] == "PERMISSION_DENIED"
    assert answer.json()["error"]["message"].startswith("Footplate has no Pub/Sub")
