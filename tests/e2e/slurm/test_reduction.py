"""Reduction servers in a region that is a real Slurm."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from footplate.domain.job_states import State
from footplate.domain.names import GcsUri
from tests.e2e.service.conftest import BUCKET, Context
from tests.e2e.service.test_reduction import EXECUTOR, REDUCER
from tests.e2e.slurm.conftest import REGION, ServeRegion
from tests.support.requirements import needs_packages
from tests.support.trainers import pack_trainer

pytestmark = [pytest.mark.soak, needs_packages("the C++ library of footplate-reduction", "g++")]

ROUNDS, SIZE = 10, 100_000
TRAINER = f"""
import os
import numpy as np
from footplate_reduction import Op, WireType, connect

rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
client = connect(rank=rank, world=world)
for number in range({ROUNDS}):
    vector = np.full({SIZE}, rank + number, np.float32)
    client.all_reduce(vector, WireType.FLOAT32, Op.SUM)
    assert (vector == sum(range(world)) + world * number).all()
print("rank", rank, "of", world, "has all sums", flush=True)
client.close()
"""


@pytest.fixture
def context(serve_region: ServeRegion) -> Iterator[Context]:
    with serve_region('files = "copied"') as context:
        yield context


def test_workers_sum_up_through_them(context: Context) -> None:
    machine = {"machineType": "n1-standard-4"}
    package = GcsUri(BUCKET, "trainer.tar.gz")
    program = {
        "executorImageUri": EXECUTOR,
        "packageUris": [str(package)],
        "pythonModule": "trainer.task",
    }
    pools = [
        {"machineSpec": machine, "replicaCount": 1, "pythonPackageSpec": program},
        {"machineSpec": machine, "replicaCount": 1, "pythonPackageSpec": program},
        {"machineSpec": machine, "replicaCount": 1, "containerSpec": {"imageUri": REDUCER}},
    ]
    job: Any = {"displayName": "reduction", "jobSpec": {"workerPoolSpecs": pools}}
    with context.client() as client:
        client.storage.upload(package, pack_trainer(TRAINER))
        name = client.custom_jobs.create("demo", REGION, job).name
    assert context.wait_for(name).state is State.SUCCEEDED, context.messages(name)
    assert "rank 0 of 2 has all sums" in context.messages(name)
    with context.client() as client:
        found = {usage.replica: usage for usage in client.usage(name)}
    assert "workerpool2-0" in found
