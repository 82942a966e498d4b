"""Data directories that earlier releases left are served: ``tools/make_release_data.py``."""

from __future__ import annotations

import tarfile
from pathlib import Path

import httpx
import pytest

from footplate.testing.service import running_service
from tests.e2e.service.conftest import CACHE
from tests.support.forked_process import run_footplate
from tests.support.local_backend import wait_until

RELEASES = sorted(Path(__file__).with_name("releases").glob("*.tar.xz"))
JOBS = "/v1/projects/kept/jobs"


@pytest.mark.parametrize("release", RELEASES, ids=lambda path: path.name.removesuffix(".tar.xz"))
def test_what_a_release_left_goes_on(release: Path, tmp_path: Path) -> None:
    with tarfile.open(release) as archive:
        archive.extractall(tmp_path, filter="data")
    with (
        running_service(tmp_path / "data", CACHE) as service,
        httpx.Client(base_url=service.url, timeout=60) as http,
    ):

        def states() -> dict[str, str]:
            return {job["jobId"]: job["state"] for job in http.get(JOBS).json()["jobs"]}

        ended = {"succeeded": "SUCCEEDED", "failed": "FAILED", "searched": "SUCCEEDED"}
        assert states() == {**ended, "held": "CANCELLED", "waiting": "QUEUED"}
        succeeded = http.get(f"{JOBS}/succeeded").json()
        assert succeeded["labels"] == {"team": "blue"}
        assert "ran with" in http.get("/footplate/v1/projects/kept/jobs/succeeded/lines").text
        assert "3" in http.get(f"{JOBS}/failed").json()["errorMessage"]
        trials = http.get(f"{JOBS}/searched").json()["trainingOutput"]["trials"]
        assert [trial["state"] for trial in trials] == ["SUCCEEDED", "SUCCEEDED"]
        assert all(trial["finalMetric"]["objectiveValue"] <= 1 for trial in trials)
        assert http.get("/storage/v1/b/kept-bucket/o/greeting.txt?alt=media").text == "hello\n"
        (study,) = http.get("/v1/projects/kept/locations/us-central1/studies").json()["studies"]
        (trial,) = http.get(f"/v1/{study['name']}/trials").json()["trials"]
        assert trial["parameters"] == [{"parameterId": "x", "value": 0.25}]

        unset = ("quotas", "unset", "jobs", "--project=kept")
        assert run_footplate(*unset, env=service.environment(), timeout=120).returncode == 0
        wait_until(lambda: states()["waiting"] == "SUCCEEDED", 240)
