"""What nodes reach, over TLS: the replica API and programs' storage, and nothing else."""

from __future__ import annotations

import ssl
from collections.abc import Iterator

import httpx
import pytest

from footplate.control.tokens import Bearer, Tokens
from footplate.domain.names import AttemptId
from footplate.testing.service import RunningService, running_service
from tests.e2e.service.conftest import CACHE

LIMIT_S = 60


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    data_dir = tmp_path_factory.mktemp("cluster") / "data"
    with running_service(data_dir, CACHE, cluster_address="127.0.0.1:0") as service:
        yield service


@pytest.fixture
def http(service: RunningService) -> Iterator[httpx.Client]:
    port = (service.data_dir / "cluster_port").read_text().split()[0]
    trusting = ssl.create_default_context(cafile=str(service.data_dir / "cluster_ca.pem"))
    url = f"https://127.0.0.1:{port}"
    with httpx.Client(base_url=url, verify=trusting, trust_env=False, timeout=LIMIT_S) as client:
        yield client


def test_replicas_are_known_by_their_tokens(http: httpx.Client, service: RunningService) -> None:
    tokens = Tokens((service.data_dir / "secret").read_bytes())
    token = tokens.issue(Bearer(AttemptId(f"{'0' * 32}-1"), "master-replica-0", 0))

    known = http.get("/replica/v1/locks/none", headers={"authorization": f"Bearer {token}"})
    assert known.status_code == 404, "there is no such lock, but the token is good"
    for headers in ({}, {"authorization": "Bearer nothing"}):
        assert http.get("/replica/v1/task", headers=headers).status_code == 403
        assert http.post("/replica/v1/reports", headers=headers).status_code == 403


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/healthz", "/metrics", "/footplate/v1/status", "/v1/projects/demo/jobs"),
        *("/storage/v1/b?project=demo", "/shell/v1/x", "/programs"),
    ],
)
def test_all_else_is_not_there(http: httpx.Client, path: str) -> None:
    assert http.get(path).status_code == 404


def test_only_keys_of_running_programs_open_the_storage_api(http: httpx.Client) -> None:
    for path in ("storage/v1/b", "computeMetadata/v1/project/project-id"):
        assert http.get(f"/programs/x/{path}").status_code == 403
    headers = {"authorization": "Bearer x"}
    assert http.get("/storage/v1/b?project=demo", headers=headers).status_code == 404


def test_another_name_in_the_host_header_is_refused(http: httpx.Client) -> None:
    answer = http.get("/replica/v1/task", headers={"host": "rebound.example"})
    assert answer.status_code == 403


def test_without_tls_nothing_is_answered(http: httpx.Client) -> None:
    plain = str(http.base_url).replace("https://", "http://")
    with pytest.raises(httpx.HTTPError):
        httpx.get(f"{plain}/replica/v1/task", trust_env=False, timeout=LIMIT_S)
