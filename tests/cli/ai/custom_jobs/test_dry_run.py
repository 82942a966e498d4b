"""``custom-jobs create --dry-run``: the verdict, and nothing made."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from footplate.domain.preview.package_check import PackageCheck
from footplate.domain.preview.parity import Parity
from footplate.domain.preview.verdict import Outlook, Verdict
from footplate.wire.footplate_v1 import verdicts
from footplate.wire.footplate_v1.package_checks import PackageChecks
from tests.support.fake_service import Answer, FakeService

DRY = ("ai", "custom-jobs", "create", "--display-name=census", "--dry-run")
PATH = "/footplate/v1/projects/demo/locations/us-central1/customJobs:validate"
PACKAGES = PATH.replace("validate", "checkPackages")
IMAGE = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest"
GOOD = Verdict((), (), Parity(accepted=True), queue=Outlook(starts_now=True))
ACCEPTED = (
    "ACCEPTED: the job would start now.\n\nGoogle's service would accept the job, by "
    "Google's documented rules.\n"
)


@pytest.fixture(autouse=True)
def _good(fake: FakeService) -> None:
    fake.refusals["POST", PATH] = Answer(body=verdicts.Verdict.of(GOOD).encode())


def test_packages_that_are_in_buckets(invoke: Callable[..., Result], fake: FakeService) -> None:
    pool = f"machine-type=n1-standard-4,executor-image-uri={IMAGE},python-module=m"

    result = invoke(*DRY, f"--worker-pool-spec={pool}", "--python-package-uris=gs://b/t.tar.gz")

    assert (result.exit_code, result.stdout, result.stderr) == (0, ACCEPTED, "")
    sent = fake.last("POST")
    assert sent.query == {}
    (spec,) = sent.json()["jobSpec"]["workerPoolSpecs"]
    assert spec["pythonPackageSpec"]["packageUris"] == ["gs://b/t.tar.gz"]
    assert fake.calls() == ["GET /healthz", f"POST {PATH}"]


@pytest.mark.parametrize(
    ("option", "bucket", "query"),
    [
        ("--staging-bucket=gs://stage", "stage", {}),
        ("--project=demo", "demo-footplate-staging", {"makesBucket": "true"}),
    ],
)
def test_local_code_is_neither_built_nor_uploaded(
    invoke: Callable[..., Result],
    fake: FakeService,
    tmp_path: Path,
    option: str,
    bucket: str,
    query: dict[str, str],
) -> None:
    (tmp_path / "train.py").write_text("print('hello')\n")
    (tmp_path / "setup.py").write_text("raise SystemExit('built')\n")
    pool = (
        f"machine-type=n1-standard-4,executor-image-uri={IMAGE},"
        f"local-package-path={tmp_path},script=train.py"
    )

    result = invoke(*DRY, f"--worker-pool-spec={pool}", option)

    uri = f"gs://{bucket}/census/footplate_local_code.tar.gz"
    assert (result.exit_code, result.stdout) == (0, ACCEPTED)
    assert result.stderr == f"Would build and upload {uri}\n"
    assert fake.last("POST").query == {"staging": f"gs://{bucket}/census/", **query}
    (spec,) = fake.last("POST").json()["jobSpec"]["workerPoolSpecs"]
    assert spec["pythonPackageSpec"]["packageUris"] == [uri]
    assert (fake.jobs, fake.objects, fake.buckets) == ({}, {}, [])


@pytest.mark.parametrize(
    ("code", "more", "uses"),
    [
        ("from tensorflow import estimator\n", "", "estimator:code/train.py:1"),
        ("from tensorflow import estimator\n", ",extra-dirs=no", "estimator:code/train.py:1"),
        ("", ",requirements=tensorflow==2.15.1", "old-tensorflow:PKG-INFO"),
    ],
)
def test_what_local_code_uses_is_told_to_the_server(
    invoke: Callable[..., Result],
    fake: FakeService,
    tmp_path: Path,
    code: str,
    more: str,
    uses: str,
) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "train.py").write_text(code)
    pool = (
        f"machine-type=n1-standard-4,executor-image-uri={IMAGE},"
        f"local-package-path={tmp_path},script=code/train.py{more}"
    )

    result = invoke(*DRY, f"--worker-pool-spec={pool}", "--staging-bucket=gs://stage")

    assert result.exit_code == 0, result.stderr
    assert fake.last("POST").query == {"staging": "gs://stage/census/", "uses": uses}


def test_local_code_that_is_not_there(invoke: Callable[..., Result], tmp_path: Path) -> None:
    pool = (
        f"machine-type=n1-standard-4,executor-image-uri={IMAGE},"
        f"local-package-path={tmp_path},script=train.py"
    )

    result = invoke(*DRY, f"--worker-pool-spec={pool}")

    assert result.exit_code == 1
    assert "train.py does not exist" in result.stderr


def test_packages_that_fail_end_the_dry_run_with_1(
    invoke: Callable[..., Result], fake: FakeService, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text("print('hello')\n")
    uri, other = "gs://stage/code.tar.gz", "gs://stage/other-1.0.tar.gz"
    error = "the requirement absent of code.tar.gz is not available for Python 3.11: no version"
    found = (
        PackageCheck(uri, ("master",), "scikit-learn 1.6", error=error),
        PackageCheck(other, ("master", "worker"), "scikit-learn 1.6", ("six==1.16.0",)),
    )
    fake.refusals["POST", PACKAGES] = Answer(body=PackageChecks.of(found).encode())
    pool = (
        f"machine-type=n1-standard-4,executor-image-uri={IMAGE},"
        f"local-package-path={tmp_path},script=train.py,requirements=absent"
    )
    options = (f"--worker-pool-spec={pool}", "--staging-bucket=stage", "--check-packages")

    result = invoke(*DRY, *options)

    assert result.exit_code == 1
    assert result.stdout == (
        "FAILS: the service would accept the job, but can't install the job's "
        "packages.\n\nGoogle's service would accept the job, by Google's documented "
        "rules.\n\nPackages:\nPACKAGE                      ROLES           RUNTIME           "
        "RESULT\ngs://stage/code.tar.gz       master          scikit-learn 1.6  "
        "FAILED\ngs://stage/other-1.0.tar.gz  master, worker  scikit-learn 1.6  OK, installs "
        f"six==1.16.0\n\n{error}\n"
    )
    sent = fake.last("POST").json()
    (package,) = sent["packages"]
    (pool_spec,) = sent["job"]["jobSpec"]["workerPoolSpecs"]
    assert [package["uri"]] == pool_spec["pythonPackageSpec"]["packageUris"]
    assert base64.b64decode(package["content"])[:2] == b"\x1f\x8b"
    assert (fake.jobs, fake.objects, fake.buckets) == ({}, {}, [])

    result = invoke(*DRY, *options, "--format=json")

    assert result.exit_code == 1
    assert [each["result"] for each in json.loads(result.stdout)["packages"]] == ["FAILED", "OK"]


def test_packages_that_can_be_installed(invoke: Callable[..., Result], fake: FakeService) -> None:
    found = (PackageCheck("gs://b/t.tar.gz", ("workerpool0",), "scikit-learn 1.6"),)
    fake.refusals["POST", PACKAGES] = Answer(body=PackageChecks.of(found).encode())
    pool = f"machine-type=n1-standard-4,executor-image-uri={IMAGE},python-module=m"
    uris = "--python-package-uris=gs://b/t.tar.gz"

    result = invoke(*DRY, f"--worker-pool-spec={pool}", uris, "--check-packages")

    assert result.exit_code == 0
    assert result.stdout.startswith(ACCEPTED)
    assert result.stdout.endswith("gs://b/t.tar.gz  workerpool0  scikit-learn 1.6  OK\n")


def test_packages_are_checked_in_a_dry_run_only(
    invoke: Callable[..., Result], fake: FakeService
) -> None:
    pool = f"machine-type=n1-standard-4,executor-image-uri={IMAGE},python-module=m"

    result = invoke(*DRY[:-1], f"--worker-pool-spec={pool}", "--check-packages")

    assert result.exit_code == 2
    assert "--check-packages needs --dry-run" in result.stderr
    assert fake.calls() == []
