"""``custom-jobs create --dry-run``: the verdict, and nothing made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from footplate.domain.preview.parity import Parity
from footplate.domain.preview.verdict import Outlook, Verdict
from footplate.wire.footplate_v1 import verdict_json
from tests.support.fake_service import Answer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    from tests.support.fake_service import FakeService

DRY = ("ai", "custom-jobs", "create", "--display-name=census", "--dry-run")
PATH = "/footplate/v1/projects/demo/locations/us-central1/customJobs:validate"
IMAGE = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest"
GOOD = Verdict((), (), Parity(accepted=True), queue=Outlook(starts_now=True))
ACCEPTED = "ACCEPTED: it would start now.\n\nGoogle's service would accept it, by its rules.\n"


@pytest.fixture(autouse=True)
def _good(fake: FakeService) -> None:
    fake.refusals["POST", PATH] = Answer(body=verdict_json(GOOD))


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
    assert result.stderr == f"Not built and uploaded now: {uri}\n"
    assert fake.last("POST").query == {"staging": f"gs://{bucket}/census/", **query}
    (spec,) = fake.last("POST").json()["jobSpec"]["workerPoolSpecs"]
    assert spec["pythonPackageSpec"]["packageUris"] == [uri]
    assert (fake.jobs, fake.objects, fake.buckets) == ({}, {}, [])


def test_local_code_that_is_not_there(invoke: Callable[..., Result], tmp_path: Path) -> None:
    pool = (
        f"machine-type=n1-standard-4,executor-image-uri={IMAGE},"
        f"local-package-path={tmp_path},script=train.py"
    )

    result = invoke(*DRY, f"--worker-pool-spec={pool}")

    assert result.exit_code == 1
    assert "train.py is not there" in result.stderr
