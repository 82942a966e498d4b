"""Creating a tuning job: the request, and what is printed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from footplate.domain.preview.parity import Parity
from footplate.domain.preview.verdict import Outlook, Verdict
from footplate.wire.footplate_v1 import verdicts
from footplate.wire.footplate_v1.package_checks import PackageChecks
from tests.support.fake_service import Answer, FakeService

CREATE = ("ai", "hp-tuning-jobs", "create", "--display-name=census")
COLLECTION = "projects/demo/locations/us-central1/hyperparameterTuningJobs"
CONFIG = """
study_spec:
  metrics: [{metric_id: rmse, goal: MINIMIZE}]
  parameters:
  - parameterId: rate
    doubleValueSpec: {minValue: 0.1, maxValue: 1}
maxTrialCount: 7
maxFailedTrialCount: 2
trialJobSpec:
  workerPoolSpecs:
    machineSpec: {machineType: n1-standard-4}
    containerSpec: {imageUri: i}
"""
STUDY = {
    "metrics": [{"metricId": "rmse", "goal": "MINIMIZE"}],
    "parameters": [{"parameterId": "rate", "doubleValueSpec": {"minValue": 0.1, "maxValue": 1}}],
}
POOL = {"machineSpec": {"machineType": "n1-standard-4"}, "containerSpec": {"imageUri": "i"}}


@pytest.fixture
def config(tmp_path: Path) -> str:
    path = tmp_path / "hptuning.yaml"
    path.write_text(CONFIG)
    return f"--config={path}"


def test_a_file_alone(invoke: Callable[..., Result], fake: FakeService, config: str) -> None:
    result = invoke(*CREATE, config)
    assert fake.last("POST").path == f"/v1/{COLLECTION}"
    assert fake.last("POST").json() == {
        "displayName": "census",
        "studySpec": STUDY,
        "trialJobSpec": {"workerPoolSpecs": [POOL]},
        "maxTrialCount": 7,
        "parallelTrialCount": 1,
        "maxFailedTrialCount": 2,
    }
    assert result.stderr == (
        "Job 100 submitted.\n"
        f"  trials:   footplate ai hp-tuning-jobs trials {COLLECTION}/100 --watch\n"
        f"  follow:   footplate ai hp-tuning-jobs stream-logs {COLLECTION}/100\n"
        f"  describe: footplate ai hp-tuning-jobs describe {COLLECTION}/100\n"
        f"  cancel:   footplate ai hp-tuning-jobs cancel {COLLECTION}/100\n"
    )
    assert f"\nname: {COLLECTION}/100\n" in result.stdout


def test_options_win(invoke: Callable[..., Result], fake: FakeService, config: str) -> None:
    invoke(
        *CREATE,
        config,
        "--max-trial-count=40",
        "--parallel-trial-count=4",
        "--algorithm=random-search",
        "--labels=team=a",
        "--learn-from=projects/demo/locations/europe-west4/studies/123",
        "--network=n",
        "--service-account=a@b",
        "--enable-web-access",
        "--kms-key=projects/p/locations/l/keyRings/r/cryptoKeys/k",
        "--region=europe-west4",
    )
    request = fake.last("POST")
    assert request.path == f"/v1/{COLLECTION}".replace("us-central1", "europe-west4")
    assert request.json() == {
        "displayName": "census",
        "studySpec": {**STUDY, "algorithm": "RANDOM_SEARCH"},
        "trialJobSpec": {
            "workerPoolSpecs": [POOL],
            "network": "n",
            "serviceAccount": "a@b",
            "enableWebAccess": True,
        },
        "maxTrialCount": 40,
        "parallelTrialCount": 4,
        "maxFailedTrialCount": 2,
        "labels": {"team": "a", "footplate-learn-from": "123"},
        "encryptionSpec": {"kmsKeyName": "projects/p/locations/l/keyRings/r/cryptoKeys/k"},
    }


def test_a_dry_run_makes_nothing(
    invoke: Callable[..., Result], fake: FakeService, config: str
) -> None:
    path = f"/footplate/v1/{COLLECTION}:validate"
    good = Verdict((), (), Parity(accepted=True), queue=Outlook(starts_now=True))
    fake.refusals["POST", path] = Answer(body=verdicts.Verdict.of(good).encode())
    result = invoke(*CREATE, config, "--dry-run")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("ACCEPTED: the job would start now.")
    assert fake.last("POST").json()["studySpec"] == STUDY
    assert fake.calls() == ["GET /healthz", f"POST {path}"]


def test_a_file_that_is_something_else(invoke: Callable[..., Result], tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text("trialJobSpec: [1]")
    result = invoke(*CREATE, f"--config={path}")
    assert result.exit_code == 1
    assert result.stderr == "Error: --config: trialJobSpec is not a mapping\n"
    assert "--config" in invoke(*CREATE).stderr


def test_the_packages_of_a_tuning_job_are_checked(
    invoke: Callable[..., Result], fake: FakeService, config: str
) -> None:
    verdict = Verdict((), (), Parity(accepted=True), queue=Outlook(starts_now=True))
    place = f"/footplate/v1/{COLLECTION}"
    fake.refusals["POST", f"{place}:validate"] = Answer(body=verdicts.Verdict.of(verdict).encode())
    fake.refusals["POST", f"{place}:checkPackages"] = Answer(body=PackageChecks.of(()).encode())

    result = invoke(*CREATE, config, "--dry-run", "--check-packages")

    assert result.exit_code == 0
    assert result.stdout.endswith("Packages: the job has no packages.\n")
    assert fake.last("POST").json()["job"]["studySpec"] == STUDY
