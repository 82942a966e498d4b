"""Jobs of Ray as its API has them: what is submitted, and what their states mean."""

from __future__ import annotations

import ast
import io
import json
import zipfile
from typing import Any

import pytest

from footplate.backends.engine.engine import JobPhase, JobRequest, LauncherRequest
from footplate.backends.ray.engine import RaySettings, bundle, pack, see_job

CHIEF = LauncherRequest("master-replica-0", "n1-standard-8", 8, 30_000, "NVIDIA_TESLA_T4", 2)
WORKER = LauncherRequest("worker-replica-0", "e2-standard-4", 4, 16_000)
REQUEST = JobRequest("footplate-x-u1-1.0", "us-east1", (CHIEF, WORKER), b"print()")
SETTINGS = RaySettings(
    "http://127.0.0.1:8265",
    strategy="SPREAD",
    machines={"n1-standard-8": {"pool_large": 1}},
    accelerators={"NVIDIA_TESLA_T4": "accelerator_type:T4"},
)


def test_a_job_is_a_driver_with_its_program() -> None:
    with zipfile.ZipFile(io.BytesIO(pack(SETTINGS, REQUEST))) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    assert files["program.py"] == REQUEST.program
    job = json.loads(files["job.json"])
    assert (job["name"], job["strategy"], len(job["bundles"])) == (REQUEST.name, "SPREAD", 2)
    ast.parse(files["driver.py"], feature_version=(3, 9))


def test_the_same_job_is_the_same_package() -> None:
    assert pack(SETTINGS, REQUEST) == pack(SETTINGS, REQUEST)


def test_bundles_reserve_what_the_machine_has() -> None:
    assert bundle(SETTINGS, CHIEF) == {
        "CPU": 8,
        "memory": 30_000 << 20,
        "GPU": 2,
        "accelerator_type:T4": 2,
        "pool_large": 1,
    }
    assert bundle(SETTINGS, WORKER) == {"CPU": 4, "memory": 16_000 << 20}


def test_a_region_may_reserve_nothing_but_accelerators() -> None:
    settings = RaySettings("http://127.0.0.1:8265", reserve=False)
    assert bundle(settings, CHIEF) == {"GPU": 2}
    assert bundle(settings, WORKER) == {"CPU": 0.001}, "Ray takes no empty bundle"


def job(status: str, message: str = "") -> dict[str, Any]:
    return {"submission_id": REQUEST.name, "status": status, "message": message}


@pytest.mark.parametrize(
    ("status", "message", "phase", "reason"),
    [
        ("PENDING", "", JobPhase.WAITING, "its job waits for Ray"),
        ("PENDING", "a\nWaiting for resources.", JobPhase.WAITING, "Waiting for resources."),
        ("RUNNING", "Job is running.", JobPhase.RUNNING, ""),
        ("STOPPED", "", JobPhase.ENDED, "its job was stopped in Ray"),
        ("SUCCEEDED", "", JobPhase.ENDED, "its launcher has ended"),
        ("FAILED", "logs\nno Ray", JobPhase.ENDED, "its job failed in Ray: no Ray"),
        ("WHATEVER", "", JobPhase.WAITING, "its job waits for Ray"),
    ],
)
def test_states_of_jobs(status: str, message: str, phase: JobPhase, reason: str) -> None:
    seen = see_job(job(status, message), {})
    assert (seen.phase, seen.reason) == (phase, reason)
    assert seen.cancelled == (status == "STOPPED")


def test_a_driver_whose_gang_has_no_room_waits() -> None:
    group = {"bundles": [{"unit_resources": {"CPU": 8.0, "memory": 1.0}}] * 3}
    seen = see_job(job("RUNNING"), {REQUEST.name: group})
    assert seen.phase is JobPhase.WAITING
    assert seen.reason == "Ray has no room for 3 times {CPU 8, memory 1} now"
