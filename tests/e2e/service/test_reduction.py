"""Jobs with reduction servers, and what becomes of them when somebody of them dies."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from footplate.domain.job_states import State
from footplate.domain.names import CustomJobName, GcsUri
from footplate.testing.faults import FaultInjector
from tests.e2e.service.conftest import REGION, Context, SharedServices
from tests.support.requirements import needs_packages
from tests.support.trainers import pack_trainer

pytestmark = needs_packages("the C++ library of footplate-reduction", "g++")

EXECUTOR = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-9.py311:latest"
REDUCER = "us-docker.pkg.dev/vertex-ai-restricted/training/reductionserver:latest"
OLD_EXECUTOR = "us-docker.pkg.dev/vertex-ai/training/scikit-learn-cpu.1-0.py37:latest"
WITHOUT_THEM = """
import os, pathlib, sys, time
assert sys.version_info[:2] == (3, 7)
assert not [name for name in os.environ if name.startswith("FOOTPLATE_REDUC")]
assert int(os.environ["WORLD_SIZE"]) == 3
try:
    import footplate_reduction
except ImportError:
    done = pathlib.Path(sys.argv[1])
    (done / ("done-" + os.environ["RANK"])).touch()
    while os.environ["RANK"] == "0" and len(list(done.glob("done-*"))) < 3:
        time.sleep(0.05)  # the job ends with its primary
"""
ROUNDS, SIZE = 40, 100_000
TRAINER = f"""
import os, pathlib, sys, time
import numpy as np
from footplate_reduction import Op, WireType, connect

rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
client = connect(rank=rank, world=world)
for number in range({ROUNDS}):
    vector = np.full({SIZE}, rank + number, np.float32)
    client.all_reduce(vector, WireType.FLOAT32, Op.SUM)
    expected = sum(range(world)) + world * number
    assert (vector == expected).all(), (number, vector, expected)
    print("round", number, flush=True)
    time.sleep(0.05)
client.close()
pathlib.Path(sys.argv[1], f"done-{{rank}}").touch()
"""


@pytest.fixture
def context(shared_services: SharedServices) -> Iterator[Context]:
    with shared_services.context(usage_s=1) as context:
        yield context


def submit(
    context: Context, reducers: int = 2, executor: str = EXECUTOR, trainer: str = TRAINER
) -> CustomJobName:
    """A primary, two workers and some reduction servers."""
    machine = {"machineType": "n1-standard-4"}
    package = GcsUri(context.bucket.name, "trainer.tar.gz")
    program = {
        "executorImageUri": executor,
        "packageUris": [str(package)],
        "pythonModule": "trainer.task",
        "args": [str(context.bucket)],
    }
    pools = [
        {"machineSpec": machine, "replicaCount": 1, "pythonPackageSpec": program},
        {"machineSpec": machine, "replicaCount": 2, "pythonPackageSpec": program},
        {"machineSpec": machine, "replicaCount": reducers, "containerSpec": {"imageUri": REDUCER}},
    ]
    job: Any = {"displayName": "reduction", "jobSpec": {"workerPoolSpecs": pools}}
    with context.client() as client:
        client.storage.upload(package, pack_trainer(trainer))
        return client.custom_jobs.create(context.project, REGION, job).name


def assert_all_is_done(context: Context, name: CustomJobName) -> None:
    """Each rank has seen each sum whole, or it would have failed."""
    context.wait_for(name, State.SUCCEEDED)
    assert sorted(path.name for path in context.bucket.glob("done-*")) == [
        f"done-{rank}" for rank in range(3)
    ]


def received_bytes(context: Context) -> float:
    """By all reduction servers of the service so far."""
    metrics = httpx.get(f"{context.service.url}/metrics").text
    total = r"^footplate_reduction_received_bytes_total (.+)$"
    return sum(map(float, re.findall(total, metrics, re.MULTILINE)))


def test_workers_sum_up_through_them_and_their_use_is_shown(context: Context) -> None:
    before = received_bytes(context)
    name = submit(context)

    assert_all_is_done(context, name)

    with context.client() as client:
        found = {usage.replica: usage for usage in client.usage(name)}
    overall = found["workerpool2-0"].overall
    assert overall.reduced_bytes_per_second is not None
    assert overall.awaiting_workers is not None
    sent = overall.reduced_bytes_per_second.mean * overall.seconds
    assert sent == pytest.approx(ROUNDS * SIZE * 4 * 3 / 2, rel=0.01)
    assert 0 <= overall.awaiting_workers.mean <= 1
    assert found["workerpool0-0"].overall.reduced_bytes_per_second is None
    assert received_bytes(context) - before == ROUNDS * SIZE * 4 * 3


@pytest.mark.parametrize("lost", ["workerpool2-1", "workerpool1-1"])
def test_one_that_is_killed_comes_back_and_all_begin_anew(context: Context, lost: str) -> None:
    with FaultInjector(context.service) as faults:
        faults.kill(lost, after_lines=5)
        name = submit(context)
        assert_all_is_done(context, name)

    last = "footplate_reduction.errors.ReductionError: "
    said = [line for line in context.lines(name) if line.message.startswith(last)]
    assert {line.replica for line in said} == {
        "workerpool0-0",
        "workerpool1-0",
        "workerpool1-1",
    } - {lost}
    culprit = "reducer 127.0.0.1:" if lost.startswith("workerpool2") else "worker 2"
    assert [line.message for line in said if culprit not in line.message] == []


def test_workers_of_python_3_7_run_without_them(context: Context) -> None:
    """The documentation has Reduction Server from PyTorch 1.4 on, whose image has Python 3.7."""
    if shutil.which("python3.7") is None and os.environ.get("CI") != "true":
        pytest.skip("needs Python 3.7")
    name = submit(context, executor=OLD_EXECUTOR, trainer=WITHOUT_THEM)

    assert_all_is_done(context, name)
