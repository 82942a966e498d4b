"""A region whose engine does not answer: the service starts, and says so wherever one looks."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate.client.service import Service
from footplate.domain.errors import InvalidArgument, NotFound
from footplate.domain.job_states import State
from footplate.testing.service import RunningService, running_service
from tests.e2e.service.conftest import CACHE, Context
from tests.support.forked_process import run_footplate

REGION = "europe-west4"
LIMIT_S = 60
SETTINGS = """
cluster_address = "127.0.0.1:0"
[[regions]]
name = "europe-west4"
backend = "slurm"
partition = "gpu"
[regions.machines]
"n1-standard-4" = "--constraint=c4"
"""


def without_controller(folder: Path) -> Path:
    """Commands of Slurm as they are where its controller is away."""
    folder.mkdir()
    for name in ("sbatch", "scancel", "scontrol", "sinfo", "squeue"):
        script = folder / name
        script.write_text("#!/bin/sh\necho 'Unable to contact slurm controller' >&2\nexit 1\n")
        script.chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    folder = tmp_path_factory.mktemp("regions")
    data_dir = folder / "data"
    data_dir.mkdir()
    (data_dir / "footplate.toml").write_text(SETTINGS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{without_controller(folder / 'bin')}:{os.environ['PATH']}")
        with running_service(data_dir, CACHE) as service:
            yield service


@pytest.fixture(scope="module")
def context(service: RunningService) -> Context:
    return Context(service)


def footplate(service: RunningService, *words: str) -> tuple[int, str]:
    done = run_footplate(*words, env=service.environment(), timeout=4 * LIMIT_S)
    return done.returncode, done.stdout or done.stderr


def test_the_regions_are_listed_and_the_engine_does_not_answer(service: RunningService) -> None:
    with Service(service.url) as client:
        bound, others = client.regions.list()
    assert (bound["name"], bound["where"]) == (REGION, "Slurm, partition gpu")
    assert (bound["machineTypes"], bound["accelerators"]) == (["n1-standard-4"], [])
    assert (bound["reachable"], others["name"], others["where"]) == (False, "*", "this machine")


def test_check_and_status_say_so(service: RunningService) -> None:
    code, out = footplate(service, "regions", "check", "--format=json")
    (checked,) = json.loads(out)
    assert (code, checked["reachable"]) == (1, False)
    assert checked["problems"]
    code, out = footplate(service, "status")
    assert code == 0
    assert f"  region   {REGION} (Slurm, partition gpu)" in out.splitlines()
    with Service(service.url) as client, pytest.raises(NotFound, match="did you mean"):
        client.regions.check("europe-west44")


def test_machines_that_are_not_mapped_are_refused_at_once(context: Context) -> None:
    pools = {"scaleTier": "CUSTOM", "masterType": "n1-standard-8"}
    with pytest.raises(InvalidArgument, match=r"trainingInput.masterType.*europe-west4.*Slurm"):
        context.submit("", region=REGION, **pools)


def test_a_job_waits_with_the_reason(context: Context) -> None:
    name = context.submit("", region=REGION, scaleTier="CUSTOM", masterType="n1-standard-4")
    with context.client() as client:
        end = time.monotonic() + 4 * LIMIT_S
        while True:
            job = client.training_jobs.get(name)
            told = str(job.resource.get("pendingExplanation"))
            if "Slurm" in told:
                break
            assert time.monotonic() < end, told
            time.sleep(0.1)
        assert job.state is State.PREPARING


def test_jobs_of_other_regions_run_here(context: Context) -> None:
    name = context.submit("print('runs here')")
    context.wait_for(name)
    assert "runs here" in context.messages(name)
