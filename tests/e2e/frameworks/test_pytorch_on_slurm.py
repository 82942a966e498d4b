"""PyTorch's ranks on two machines of a real Slurm, which reach each other by their addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from footplate.domain.job_states import State
from footplate.domain.names import GcsUri
from footplate.testing.service import running_service
from tests.e2e.frameworks.conftest import EXAMPLES, Clusters, read_report
from tests.e2e.service.conftest import BUCKET, CACHE
from tests.support.environments import make_wheel
from tests.support.slurm import NODES, SlurmMachines, running_slurm_on_machines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from footplate.domain.names import CustomJobName

pytestmark = pytest.mark.soak

IMAGE = "us-docker.pkg.dev/vertex-ai/training/pytorch-cpu.2-13.py311:latest"
SETTINGS = """\
cluster_address = "{address}:0"

[[regions]]
name = "us-central1"
backend = "slurm"
scratch = "{scratch}"
shared = "{shared}"

[regions.machines]
"*" = "--cpus-per-task=1 --mem-per-cpu=200 --ntasks-per-node=1"
"""


@pytest.fixture(scope="module")
def machines() -> Iterator[SlurmMachines]:
    with running_slurm_on_machines() as cluster:
        yield cluster


@pytest.fixture
def clusters(
    machines: SlurmMachines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Clusters]:
    monkeypatch.setenv("SLURM_CONF", machines.environment["SLURM_CONF"])
    data = tmp_path / "data"
    data.mkdir()
    text = SETTINGS.format(
        address=machines.address, scratch=tmp_path / "scratch", shared=CACHE.parent
    )
    (data / "footplate.toml").write_text(text)
    with running_service(data, CACHE, stop_grace_s=1) as service:
        yield Clusters(service)
        machines.cancel_all()


def test_data_parallel_training_on_two_machines(
    clusters: Clusters, machines: SlurmMachines, tmp_path: Path
) -> None:
    trainer = make_trainer(tmp_path)
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


def make_trainer(folder: Path) -> Path:
    """The example, as a wheel: the machines reach nothing that a package could be built with."""
    task = (EXAMPLES / "torch_ddp" / "task.py").read_text()
    begin = task.index("def main():\n") + len("def main():\n")
    says = '    print("meets at", os.environ["MASTER_ADDR"], flush=True)\n'
    files = {"trainer/__init__.py": "", "trainer/task.py": task[:begin] + says + task[begin:]}
    return make_wheel(folder, "trainer", files=files)


def submit(clusters: Clusters, trainer: Path, region: str, out: str) -> CustomJobName:
    package = GcsUri(BUCKET, trainer.name)
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
        client.storage.upload(package, trainer.read_bytes())
        return client.custom_jobs.create("demo", region, job).name
