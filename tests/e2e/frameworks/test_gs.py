"""TensorFlow's own ``gs://`` under ``footplate run``, in the runtime's own Python."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from footplate.domain.job_states import State
from footplate.testing.service import FOOTPLATE, running_service
from tests.e2e.frameworks.conftest import Clusters
from tests.e2e.service.conftest import CACHE
from tests.support.own_process import case_names, run_cases

if TYPE_CHECKING:
    from collections.abc import Iterator

CASES = Path(__file__).with_name("gs_cases.py")
RUN = (*FOOTPLATE, "run", "--")
WHERE = "import sys, tensorflow; print('PYTHON', sys.executable, flush=True)"


@pytest.fixture(scope="module")
def clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clusters]:
    """Without isolation programs see the paths of the machine."""
    data_dir = tmp_path_factory.mktemp("gs") / "data"
    settings = {"isolation": "best-effort", "allow_root": "true"}
    with running_service(data_dir, CACHE, stop_grace_s=1, **settings) as service:
        yield Clusters(service)


@pytest.fixture(scope="module")
def results(clusters: Clusters, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    name = clusters.submit(WHERE, runtimeVersion="2.21", pythonVersion="3.11")
    job = clusters.wait_for(name)
    assert job.state is State.SUCCEEDED, job.error_message
    said = (line.split(" ", 1) for line in clusters.messages(name) if line.startswith("PYTHON"))
    ((_, python),) = said
    folder = tmp_path_factory.mktemp("cases")
    environment = clusters.service.environment(HOME=str(folder), TF_CPP_MIN_LOG_LEVEL="1")
    return run_cases(CASES, environment, folder, RUN, python)


@pytest.mark.parametrize("name", case_names(CASES))
def test_gs(name: str, results: dict[str, str]) -> None:
    assert not results[name], results[name]


def test_nothing_else_was_asked_for(clusters: Clusters, results: dict[str, str]) -> None:
    assert results
    answer = httpx.get(f"{clusters.service.url}/footplate/v1/proxy").json()
    assert answer["refusedHosts"] == []
