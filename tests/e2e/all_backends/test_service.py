"""Jobs of Google's client in four regions of one service, each on another backend."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from footplate.domain.names import TrainingJobName
from tests.clients.conftest import PROJECT
from tests.e2e.service.conftest import Context
from tests.e2e.service.tuning_helpers import REPORTER, search, starts
from tests.support.environments import make_wheel
from tests.support.kubernetes import Kubernetes
from tests.support.ray_cluster import RayCluster
from tests.support.slurm import SlurmCluster
from tests.support.trainers import Trainers

if TYPE_CHECKING:
    import subprocess

    from google.cloud import storage

    Finish = Callable[..., dict[str, Any]]
    Footplate = Callable[..., subprocess.CompletedProcess[str]]
    EngineJobs = Callable[[], dict[str, list[str]]]

pytestmark = pytest.mark.soak

REGIONS = {
    "us-central1": "this machine",
    "europe-west4": "Slurm",
    "asia-east1": "Kubernetes",
    "us-east1": "Ray",
}
RUNNING_PODS = ("get", "pods", "-o", "name", "--field-selector=status.phase=Running")
COUNTS = """
import argparse, os, time

parser = argparse.ArgumentParser()
parser.add_argument("--job-dir")
folder = parser.parse_args().job_dir.replace("gs://", "/gcs/")

def note(name):
    with open(os.path.join(folder, name), "a") as file:
        file.write(".")

os.makedirs(folder, exist_ok=True)
note("starts")
number = 0
while not os.path.exists(os.path.join(folder, "end")):
    print("line", number, flush=True)
    note("lines")
    number += 1
    time.sleep(0.2)
print("in", os.environ["CLOUD_ML_REGION"], flush=True)
"""
TRIAL = REPORTER + (
    """
found = {"trial": trial, "region": os.environ["CLOUD_ML_REGION"]}
print(json.dumps({**found, "on_an_engine": "/launchers/" in os.getcwd()}))
HyperTune().tell("loss", given.x, 1)
"""
)


@pytest.fixture
def engine_jobs(slurm: SlurmCluster, kubernetes: Kubernetes, ray_cluster: RayCluster) -> EngineJobs:
    """What each engine has of ours, as it says itself."""

    def ask() -> dict[str, list[str]]:
        pods = kubernetes.kubectl(
            "get", "pods", "-o", "name", "--field-selector=status.phase=Running"
        )
        jobs = httpx.get(f"{ray_cluster.address}/api/jobs/", trust_env=False).json()
        return {
            "europe-west4": slurm.command("squeue", "-h", "-o", "%j").split(),
            "asia-east1": pods.split(),
            "us-east1": [job["submission_id"] for job in jobs if job["status"] == "RUNNING"],
        }

    return ask


def test_all_four_are_shown(footplate: Footplate) -> None:
    checked = footplate("regions", "check", *REGIONS)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    status = footplate("status")
    assert status.returncode == 0, status.stderr
    assert "problem" not in checked.stdout + status.stdout
    for region, backend in REGIONS.items():
        assert f"{region}: {backend}" in checked.stdout
        shown = f"region   {region} ({backend}" in status.stdout
        assert shown == (region != "us-central1"), status.stdout  # which has no engine


def test_jobs_in_all_four_survive_that_the_service_is_killed(
    context: Context,
    ml: Any,
    finish: Finish,
    trainers: Trainers,
    bucket: storage.Bucket,
    engine_jobs: EngineJobs,
    tmp_path: Path,
) -> None:
    package = trainers.upload(make_wheel(tmp_path, "trainer", files=trainer(COUNTS)))
    folders = {region: context.bucket.parent / bucket.name / region for region in REGIONS}
    names = {region: TrainingJobName(PROJECT, region.replace("-", "_")) for region in REGIONS}
    for region, name in names.items():
        send(ml, name, package, region=region, jobDir=f"gs://{bucket.name}/{region}")
    for name in names.values():
        context.until(lambda name=name: "line 0" in context.messages(name))  # type: ignore[misc]  # bound on purpose
    before = engine_jobs()
    assert [len(jobs) for jobs in before.values()] == [1, 1, 1]

    context.service.kill()
    sizes = {region: count(folder / "lines") for region, folder in folders.items()}
    context.until(lambda: all(count(folders[r] / "lines") > size for r, size in sizes.items()))
    context.service.start()
    missed = {region: f"line {count(folder / 'lines')}" for region, folder in folders.items()}
    for region, name in names.items():
        context.until(lambda n=name, line=missed[region]: line in context.messages(n))  # type: ignore[misc]  # bound on purpose
    assert engine_jobs() == before

    for folder in folders.values():
        (folder / "end").touch()
    for region, name in names.items():
        job = finish(name.job_id)
        assert job["state"] == "SUCCEEDED", (job, context.messages(name))
        assert count(folders[region] / "starts") == 1
        printed = [f"line {number}" for number in range(count(folders[region] / "lines"))]
        said = context.messages(name)
        assert [line for line in said if line.startswith(("line", "in "))] == [
            *printed,
            f"in {region}",
        ]
        with context.client() as client:
            assert {"RESTART", "RETRY"}.isdisjoint(event.kind for event in client.events(name))
    context.until(lambda: not any(engine_jobs().values()))


def test_the_trials_of_a_search_spread_over_all_four(
    context: Context, ml: Any, finish: Finish, trainers: Trainers, tmp_path: Path
) -> None:
    package = trainers.upload(make_wheel(tmp_path, "trainer", files=trainer(TRIAL)))
    name = TrainingJobName(PROJECT, "spread")
    send(
        ml,
        name,
        package,
        labels={"footplate-trial-regions": "_".join(REGIONS)},
        region="us-central1",
        hyperparameters=search(8, 4, algorithm="RANDOM_SEARCH"),
    )
    job = finish("spread")
    assert job["state"] == "SUCCEEDED", (job, context.messages(name))
    states = [trial["state"] for trial in job["trainingOutput"]["trials"]]
    assert states == ["SUCCEEDED"] * 8
    assert starts(context, name) == {
        str(number): [{"trial": number, "region": region, "on_an_engine": region != "us-central1"}]
        for number, region in enumerate(2 * tuple(REGIONS), 1)
    }


def trainer(task: str) -> dict[str, str]:
    return {"trainer/__init__.py": "", "trainer/task.py": task}


def send(ml: Any, name: TrainingJobName, package: str, labels: Any = None, **more: Any) -> None:
    training = {"packageUris": [package], "pythonModule": "trainer.task", **more}
    job = {"jobId": name.job_id, "trainingInput": training, "labels": labels or {}}
    ml.jobs().create(parent=f"projects/{PROJECT}", body=job).execute()


def count(path: Path) -> int:
    return path.stat().st_size
