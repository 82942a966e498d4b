"""Jobs that are container images, in a region that is a real Slurm with a Podman on its nodes."""

from __future__ import annotations

import os
import secrets
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from footplate.domain.job_states import State
from footplate.domain.names import GcsUri, JobName
from footplate.testing.service import running_service
from tests.e2e.containers.container_context import IMAGE, ContainerContext, Engine
from tests.e2e.service.conftest import BUCKET, CACHE
from tests.support.launcher_processes import find_launchers
from tests.support.slurm import PARTITION, SlurmCluster

REGION = "europe-west4"
SETTINGS = """\
[[regions]]
name = "{region}"
backend = "slurm"
partition = "{partition}"
scratch = "{scratch}"
containers = "{socket}"
files = "copied"

[regions.machines]
"*" = "--cpus-per-task=1 --mem-per-cpu=200"
"""
WRITES = """\
import os
print("runs as", os.getuid())
os.makedirs(os.environ["AIP_MODEL_DIR"].replace("gs://", "/gcs/"), exist_ok=True)
with open(os.environ["AIP_MODEL_DIR"].replace("gs://", "/gcs/") + "/weights", "w") as file:
    file.write("learned")
"""
SLEEPS = "import time; print('sleeps', flush=True); time.sleep(600)"


@pytest.fixture(scope="module")
def in_slurm(
    slurm: SlurmCluster, podman: Engine, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ContainerContext]:
    """The service itself has no container engine."""
    folder = tmp_path_factory.mktemp("slurm-containers")
    data = folder / "data"
    data.mkdir()
    text = SETTINGS.format(
        region=REGION, partition=PARTITION, scratch=folder / "scratch", socket=podman.socket
    )
    (data / "footplate.toml").write_text(text)
    settings = {
        "stop_grace_s": 1,
        "cluster_address": "127.0.0.1:0",
        "container_engine": "none",
        "max_retries": 0,
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLURM_CONF", slurm.environment["SLURM_CONF"])
        with running_service(data, CACHE, **settings) as service:
            yield ContainerContext(service, podman)
            slurm.cancel_all()


def run(context: ContainerContext, *command: str) -> JobName:
    container = {"imageUri": IMAGE, "command": ["python3", "-c", *command]}
    pool = {
        "containerSpec": container,
        "machineSpec": {"machineType": "n1-standard-4"},
        "replicaCount": "1",
    }
    output = {"outputUriPrefix": f"gs://{BUCKET}/out"}
    spec = {"workerPoolSpecs": [pool], "baseOutputDirectory": output}
    body: Any = {"displayName": "a container", "jobSpec": spec}
    with context.client() as client:
        return client.custom_jobs.create("demo", REGION, body).name


def test_images_run_on_nodes_and_end_as_they_do_here(in_slurm: ContainerContext) -> None:
    good = run(in_slurm, WRITES)
    bad = run(in_slurm, "import sys; print('so bad'); sys.exit(7)")
    assert in_slurm.wait_for(good).state is State.SUCCEEDED, in_slurm.messages(good)
    assert in_slurm.messages(good) == ["runs as 0"]
    with in_slurm.client() as client:
        found = client.storage.objects(GcsUri(BUCKET, "out/model/"))
        assert [each.name for each in found] == ["out/model/weights"]
    assert any("runs the image" in text for text in in_slurm.told(good, "IMAGE"))
    failed = in_slurm.wait_for(bad, State.FAILED)
    assert "7" in (failed.error_message or "")
    assert in_slurm.messages(bad) == ["so bad"]
    in_slurm.check_nothing_is_left()


def test_a_container_on_a_node_is_stopped_with_its_job(
    in_slurm: ContainerContext, slurm: SlurmCluster
) -> None:
    name = run(in_slurm, SLEEPS)
    in_slurm.until(lambda: "sleeps" in in_slurm.messages(name))
    with in_slurm.client() as client:
        client.cancel(name)
    assert in_slurm.wait_for(name, State.CANCELLED).state is State.CANCELLED
    in_slurm.check_nothing_is_left()
    in_slurm.until(lambda: not slurm.command("squeue", "-h", "-o", "%i").strip())


def test_no_container_outlives_the_kill_of_all_processes_of_its_job(
    in_slurm: ContainerContext, slurm: SlurmCluster
) -> None:
    """No new job is let in, so that no other launcher removes what was left over."""
    source = f"{SLEEPS} # {secrets.token_hex(8)}"
    name = run(in_slurm, source)
    in_slurm.until(lambda: "sleeps" in in_slurm.messages(name))
    assert not any("guard" in text for text in in_slurm.told(name, "ISOLATION"))
    inside = processes_of(source)
    assert inside
    slurm.command("scontrol", "update", f"PartitionName={PARTITION}", "State=DOWN")
    try:
        scratch = in_slurm.service.data_dir.parent / "scratch"
        end_at_once(processes_of(f"{scratch}/launchers/"))
        in_slurm.until(lambda: not inside & processes_of(source))
    finally:
        slurm.command("scontrol", "update", f"PartitionName={PARTITION}", "State=UP")
    in_slurm.until(lambda: in_slurm.messages(name).count("sleeps") == 2)
    with in_slurm.client() as client:
        client.cancel(name)
    in_slurm.wait_for(name, State.CANCELLED)
    in_slurm.check_nothing_is_left()


def test_a_container_whose_launcher_is_killed_has_ended_before_it_starts_again(
    in_slurm: ContainerContext,
) -> None:
    source = f"{SLEEPS} # {secrets.token_hex(8)}"
    name = run(in_slurm, source)
    in_slurm.until(lambda: "sleeps" in in_slurm.messages(name))
    inside = processes_of(source)
    assert inside
    [launcher] = find_launchers(f"{in_slurm.service.data_dir.parent}/scratch/launchers/*")
    os.kill(launcher, signal.SIGKILL)
    in_slurm.until(lambda: in_slurm.messages(name).count("sleeps") == 2)
    assert not inside & processes_of(source)
    with in_slurm.client() as client:
        client.cancel(name)
    in_slurm.wait_for(name, State.CANCELLED)
    in_slurm.check_nothing_is_left()


def processes_of(words: str) -> set[int]:
    """Those in whose command line they stand."""
    found = set()
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and words in (entry / "cmdline").read_text():
                found.add(int(entry.name))
    return found


def end_at_once(processes: set[int]) -> None:
    """None of them does anything when another one ends."""
    assert processes
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in processes:
            with suppress(ProcessLookupError):
                os.kill(pid, number)


def test_the_check_of_the_region_names_the_engine_of_a_node(in_slurm: ContainerContext) -> None:
    url = f"{in_slurm.service.url}/footplate/v1/regions/{REGION}/check"
    found = httpx.get(url, timeout=60).json()
    assert f"has a container engine at {in_slurm.engine.socket}" in str(found), found
