"""--stream-logs of the commands that make a job."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result

from tests.support.fake_service import FakeService

CONFIG = """\
studySpec: {metrics: [{metricId: rmse, goal: MINIMIZE}]}
trialJobSpec: {workerPoolSpecs: []}
"""
IMAGE = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-9.py311:latest"
POOL = f"--worker-pool-spec=machine-type=n1-standard-4,executor-image-uri={IMAGE},python-module=a.b"
PLACE = "projects/demo/locations/us-central1"


class Ending(list[dict[str, object]]):
    def __init__(self, fake: FakeService, name: str, state: str) -> None:
        super().__init__([{"cursor": 1, "replica": "r", "message": "hello"}])
        self._fake, self._name, self._state = fake, name, state

    def __iter__(self) -> Iterator[dict[str, object]]:
        self._fake.jobs[self._name]["state"] = self._state
        return super().__iter__()


@pytest.fixture(params=["custom-jobs", "hp-tuning-jobs"])
def create(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, ...]:
    words = ("ai", str(request.param), "create", "--display-name=census")
    if request.param == "custom-jobs":
        return (*words, POOL)
    (tmp_path / "config.yaml").write_text(CONFIG)
    return (*words, f"--config={tmp_path / 'config.yaml'}")


@pytest.mark.parametrize(
    ("state", "code", "told"),
    [("SUCCEEDED", 0, "succeeded."), ("FAILED", 1, "failed."), ("CANCELLED", 1, "was cancelled.")],
)
def test_it_ends_as_the_job_does(
    create: tuple[str, ...],
    state: str,
    code: int,
    told: str,
    invoke: Callable[..., Result],
    fake: FakeService,
) -> None:
    kind = "customJobs" if "custom-jobs" in create else "hyperparameterTuningJobs"
    name = f"{PLACE}/{kind}/100"
    fake.lines[name] = Ending(fake, name, f"JOB_STATE_{state}")
    result = invoke(*create, "--stream-logs")
    assert (result.exit_code, result.stdout) == (code, "r  hello\n")
    assert result.stderr.splitlines()[-1] == f"Job 100 {told}"


def test_following_and_not_following_exclude_each_other(
    create: tuple[str, ...], invoke: Callable[..., Result], fake: FakeService
) -> None:
    result = invoke(*create, "--stream-logs", "--async")
    assert (result.exit_code, fake.jobs) == (2, {})
    assert result.stderr.endswith("Error: --async and --stream-logs exclude each other\n")
