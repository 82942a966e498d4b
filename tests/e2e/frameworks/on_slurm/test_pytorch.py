"""PyTorch's ranks on two machines of a real Slurm, which reach each other by their addresses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from footplate.domain.job_states import State
from footplate.domain.names import CustomJobName, GcsUri
from tests.e2e.frameworks.conftest import EXAMPLES, Clusters, read_report
from tests.e2e.frameworks.on_slurm.conftest import upload_trainer
from tests.e2e.service.conftest import BUCKET
from tests.support.slurm import NODES, SlurmMachines

pytestmark = pytest.mark.soak

IMAGE = "us-docker.pkg.dev/vertex-ai/training/pytorch-cpu.2-13.py311:latest"


def test_data_parallel_training_on_two_machines(
    clusters: Clusters, machines: SlurmMachines, tmp_path: Path
) -> None:
    task = (EXAMPLES / "torch_ddp" / "task.py").read_text()
    trainer = upload_trainer(clusters, tmp_path, say_address(task))
    here = submit(clusters, trainer, "europe-west4", "here")  # builds what machines can't download
    assert clusters.wait_for_end(here).state is State.SUCCEEDED, clusters.messages(here)

    name = submit(clusters, trainer, "us-central1", "ddp")
    job = clusters.wait_for_end(name)
    assert job.state is State.SUCCEEDED, job.error_message

    report = read_report(clusters.bucket / "ddp" / "model")
    assert report["ranks"] == [0, 1]
    assert report["weights"][0] == report["weights"][1]
    assert report["losses"][-1] < report["losses"][0] / 100
    said = [line.message for line in clusters.lines(name) if line.message.startswith("meets at")]
    assert len(said) == 2
    assert {line.split()[2] for line in said} < {machines.node_address(node) for node in NODES}


def say_address(task: str) -> str:
    """The example, which says where it meets the others."""
    begin = task.index("def main():\n") + len("def main():\n")
    says = '    print("meets at", os.environ["MASTER_ADDR"], flush=True)\n'
    return task[:begin] + says + task[begin:]


def submit(clusters: Clusters, package: GcsUri, region: str, out: str) -> CustomJobName:
    program = {
        "executorImageUri": IMAGE,
        "packageUris": [str(package)],
        "pythonModule": "trainer.task",
    }
    pool = {
        "machineSpec": {"machineType": "n1-standard-4"},
        "replicaCount": 1,
        "pythonPackageSpec": program,
    }
    spec = {
        "workerPoolSpecs": [pool, pool],
        "baseOutputDirectory": {"outputUriPrefix": f"gs://{BUCKET}/{out}"},
    }
    job: Any = {"displayName": "ddp", "jobSpec": spec}
    with clusters.client() as client:
        return client.custom_jobs.create("demo", region, job).name
