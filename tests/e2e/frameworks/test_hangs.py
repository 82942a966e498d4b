"""A hang of a real framework, as its user sees it."""

from __future__ import annotations

from typing import Any

from footplate.domain.names import CustomJobName, GcsUri
from footplate.domain.stacks import Comparison, Place
from tests.e2e.frameworks.conftest import Clusters
from tests.e2e.service.conftest import BUCKET
from tests.support.trainers import pack_trainer

IMAGE = "us-docker.pkg.dev/vertex-ai/training/pytorch-cpu.2-13.py311:latest"
TRAINER = """\
import time

import torch
import torch.distributed.nn
from torch import distributed
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __len__(self):
        return 100

    def __getitem__(self, index):
        if distributed.get_rank() == 1 and index == 70:
            print("lost", flush=True)
            time.sleep(600)  # a file server that doesn't answer
        return torch.randn(8), torch.randn(1)


def train():
    model = DistributedDataParallel(torch.nn.Linear(8, 1))
    for x, y in DataLoader(Rows(), 20):
        torch.nn.functional.mse_loss(model(x), y).backward()


if __name__ == "__main__":
    torch.set_num_threads(1)
    distributed.init_process_group("gloo")
    try:
        train()
    finally:
        distributed.destroy_process_group()
"""


def test_the_rank_whose_data_does_not_come_is_pointed_at(clusters: Clusters) -> None:
    """The others wait for its gradients, deep in the framework."""
    name = submit(clusters)
    clusters.until(lambda: "lost" in clusters.messages(name))
    clusters.until(lambda: is_clear(collect(clusters, name)))

    waiting, late = collect(clusters, name).places
    assert replicas(waiting) == ["workerpool0-0", "workerpool1-1"]
    assert waiting.spots[0].frames[0].function == "_engine_run_backward"
    assert replicas(late) == ["workerpool1-0"]
    assert late.spots[0].frames[0].function.endswith("__getitem__")
    with clusters.client() as client:
        client.cancel(name)
    clusters.wait_for_end(name)


def submit(clusters: Clusters) -> CustomJobName:
    package = GcsUri(BUCKET, "trainer.tar.gz")
    program = {
        "executorImageUri": IMAGE,
        "packageUris": [str(package)],
        "pythonModule": "trainer.task",
    }
    machine = {"machineType": "n1-standard-4"}
    pools = [
        {"machineSpec": machine, "replicaCount": count, "pythonPackageSpec": program}
        for count in (1, 2)
    ]
    job: Any = {"displayName": "hang", "jobSpec": {"workerPoolSpecs": pools}}
    with clusters.client() as client:
        client.storage.upload(package, pack_trainer(TRAINER))
        return client.custom_jobs.create("demo", "us-central1", job).name


def collect(clusters: Clusters, name: CustomJobName) -> Comparison:
    with clusters.client() as client:
        return client.stacks(name).comparison


def is_clear(comparison: Comparison) -> bool:
    """Whether all have come to where they stay."""
    return [len(place.members) for place in comparison.places] == [2, 1] and (
        comparison.places[0].spots[0].frames[0].function == "_engine_run_backward"
    )


def replicas(place: Place) -> list[str]:
    return [member.replica for member in place.members]
