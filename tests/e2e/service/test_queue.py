"""What waits: why, at which place, for how long at most, and that no restart forgets it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from footplate.domain.job_states import State
from footplate.domain.names import CustomJobName, TrainingJobName
from footplate.testing.service import running_service
from tests.e2e.service.conftest import BUCKET, CACHE, REGION, Context
from tests.support.trainers import pack_trainer

UNTIL_TOLD = """
import pathlib, sys, time
out = pathlib.Path(sys.argv[sys.argv.index("--job-dir") + 1].replace("gs://", "/gcs/"))
while not (out / "end").exists():
    time.sleep(0.05)
"""


@pytest.fixture
def narrow(tmp_path: Path) -> Iterator[Context]:
    """A service that runs one replica at once."""
    settings = {"stop_grace_s": 1, "max_replicas": 1}
    with running_service(tmp_path / "data", CACHE, **settings) as service:
        yield Context(service)


def resource(context: Context, name: TrainingJobName) -> dict[str, object]:
    return dict(context.job(name).resource)


def events(context: Context, name: TrainingJobName, kind: str) -> list[str]:
    with context.client() as client:
        return [event.message for event in client.events(name) if event.kind == kind]


def test_a_waiting_job_says_why_everywhere_and_starts_when_there_is_room(narrow: Context) -> None:
    first = narrow.submit(UNTIL_TOLD)
    narrow.wait_for(first, State.RUNNING)
    second = narrow.submit("print('two')")
    narrow.until(lambda: bool(events(narrow, second, "WAITING")))
    text = str(resource(narrow, second)["pendingExplanation"])
    assert first.job_id in text
    assert events(narrow, second, "WAITING") == [text]

    third = narrow.submit("print('three')")
    narrow.until(lambda: bool(events(narrow, third, "WAITING")))
    text = str(resource(narrow, second)["pendingExplanation"])
    assert "first of 2" in text
    assert resource(narrow, second)["jobPosition"] == "1"
    assert resource(narrow, third)["jobPosition"] == "2"
    described = narrow.run_cli("ai-platform", "jobs", "describe", second.job_id, "--format=json")
    assert text in described
    assert text[:20] in narrow.run_cli("ai-platform", "jobs", "list")

    narrow.service.kill()
    narrow.service.start()
    assert resource(narrow, second)["pendingExplanation"] == text
    assert len(events(narrow, second, "WAITING")) == 1, "told once"

    (narrow.out(first) / "end").touch()
    narrow.wait_for(third, State.SUCCEEDED)
    assert narrow.job(second).state is State.SUCCEEDED
    done = resource(narrow, second)
    assert "pendingExplanation" not in done
    assert done["jobPosition"] == "0"
    starts = [str(resource(narrow, name)["startTime"]) for name in (first, second, third)]
    assert starts == sorted(starts)


def test_who_only_waits_for_a_quota_starts_when_it_is_raised(shared: Context) -> None:
    with shared.client() as client:
        client.quotas.change(shared.project, "*", {"jobs": 1})
    first = shared.submit(UNTIL_TOLD)
    shared.wait_for(first, State.RUNNING)
    second = shared.submit("print('two')")
    shared.until(lambda: bool(events(shared, second, "WAITING")))

    with shared.client() as client:
        client.quotas.change(shared.project, "*", {"jobs": None})
    shared.wait_for(second, State.SUCCEEDED)

    (shared.out(first) / "end").touch()
    shared.wait_for(first, State.SUCCEEDED)


def test_the_longest_wait_ends_a_waiting_job(narrow: Context) -> None:
    """Also when the server dies meanwhile."""
    first = narrow.submit(UNTIL_TOLD)
    narrow.wait_for(first, State.RUNNING)
    name = submit_flexible(narrow, wait="4s")
    narrow.service.kill()
    narrow.service.start()
    job = narrow.wait_for(name, State.CANCELLED)
    waited = moment(job.resource["endTime"]) - moment(job.resource["createTime"])
    assert waited.total_seconds() >= 4.0  # how late it may be: unit tests of the reconciler
    assert "longest waiting time of 4 s" in job.error_message
    (narrow.out(first) / "end").touch()
    narrow.wait_for(first, State.SUCCEEDED)


def test_the_longest_run_ends_a_running_job(narrow: Context) -> None:
    """Also when the server dies meanwhile."""
    name = narrow.submit(UNTIL_TOLD, scheduling={"maxRunningTime": "4s"})
    narrow.wait_for(name, State.RUNNING)
    narrow.service.kill()
    narrow.service.start()
    job = narrow.wait_for(name)

    assert job.state is State.CANCELLED
    assert "limit of 4 s" in job.error_message
    ran_s = moment(job.resource["endTime"]) - moment(job.resource["startTime"])
    assert ran_s.total_seconds() >= 3.5


def submit_flexible(context: Context, wait: str) -> CustomJobName:
    """A custom job that may wait so long."""
    package = {
        "executorImageUri": "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-21.py311:latest",
        "packageUris": [f"gs://{BUCKET}/flexible.tar.gz"],
        "pythonModule": "trainer.task",
    }
    pool = {
        "machineSpec": {"machineType": "n1-standard-4"},
        "replicaCount": "1",
        "pythonPackageSpec": package,
    }
    scheduling = {"strategy": "FLEX_START", "maxWaitDuration": wait}
    spec = {"workerPoolSpecs": [pool], "scheduling": scheduling}
    (context.bucket / "flexible.tar.gz").write_bytes(pack_trainer("print('flexible')"))
    body: Any = {"displayName": "flexible", "jobSpec": spec}
    with context.client() as client:
        return client.custom_jobs.create("demo", REGION, body).name


def moment(text: object) -> datetime:
    return datetime.fromisoformat(str(text))
