"""Who gets in, on the real thing: health, metrics, foreign pages, tokens."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from footplate.testing.service import RunningService, running_service
from tests.e2e.service.conftest import CACHE

JOBS = "/v1/projects/demo/jobs"
INTERVAL_S = 7.0
"""More than the 5 seconds for which many servers keep a connection that nobody uses."""


@pytest.fixture(scope="module")
def open_door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(tmp_path_factory.mktemp("open") / "data", CACHE) as service:
        yield service


@pytest.fixture
def locked_door(tmp_path: Path) -> Iterator[RunningService]:
    service = running_service(tmp_path / "data", CACHE, token="s3cret", host="0.0.0.0")
    with service as running:
        yield running


def test_health_and_metrics(open_door: RunningService) -> None:
    health = httpx.get(f"{open_door.url}/healthz").json()
    metrics = httpx.get(f"{open_door.url}/metrics").text

    assert health["status"] == "ok"
    assert 'footplate_jobs{state="RUNNING"} 0.0' in metrics
    assert 'footplate_trials{state="RUNNING"} 0.0' in metrics
    assert "footplate_reduction_received_bytes_total 0.0" in metrics
    assert "process_resident_memory_bytes" in metrics


@pytest.mark.parametrize(
    ("header", "value"), [("Host", "evil.example"), ("Origin", "https://evil.example")]
)
def test_a_foreign_page_is_refused(open_door: RunningService, header: str, value: str) -> None:
    answer = httpx.get(f"{open_door.url}{JOBS}", headers={header: value})

    assert answer.status_code == 403
    assert answer.json()["error"]["status"] == "PERMISSION_DENIED"


def test_a_form_of_a_page_is_refused(open_door: RunningService) -> None:
    answer = httpx.post(f"{open_door.url}{JOBS}", data={"jobId": "x"})

    assert answer.status_code in (400, 415)
    assert "application/json" in answer.json()["error"]["message"]


def test_errors_of_the_router_have_googles_shape(open_door: RunningService) -> None:
    for method, path, status in (("GET", "/nowhere", 404), ("PUT", JOBS, 405)):
        answer = httpx.request(method, open_door.url + path)
        assert answer.status_code == status
        assert answer.json()["error"]["code"] == status


def test_a_token_is_wanted_from_everyone(locked_door: RunningService) -> None:
    url = f"{locked_door.url}{JOBS}"

    assert httpx.get(url).status_code == 403
    assert httpx.get(url, headers={"Authorization": "Bearer wrong"}).status_code == 403
    assert httpx.get(url, headers={"Authorization": "Bearer s3cret"}).json() == {}
    assert httpx.get(f"{locked_door.url}/healthz").status_code == 200


def test_a_connection_outlives_a_pause_of_its_user(open_door: RunningService) -> None:
    """Clients that come back to one which was closed meanwhile may fail."""
    host, _, port = open_door.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=INTERVAL_S) as connection:
        connection.sendall(f"GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        answer = connection.makefile("rb")
        length = [line for line in iter(answer.readline, b"\r\n") if b"content-length" in line]
        answer.read(int(length[0].partition(b":")[2]))
        with pytest.raises(TimeoutError):
            connection.recv(1)
