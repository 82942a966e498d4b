"""``submit training --dry-run``: the verdict, and nothing made."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from footplate.cli.main import main
from footplate.domain.errors import Violation
from footplate.domain.preview.package_check import PackageCheck
from footplate.domain.preview.parity import Parity
from footplate.domain.preview.verdict import Outlook, Verdict
from footplate.wire.footplate_v1 import verdicts
from footplate.wire.footplate_v1.package_checks import PackageChecks
from tests.support.fake_service import Answer, FakeService, failure
from tests.support.trainers import pack_trainer

DRY = ("ai-platform", "jobs", "submit", "training", "census_1", "--dry-run")
PATH = "/footplate/v1/projects/demo/jobs:validate"
GOOD = Verdict((), ("it is late",), Parity(accepted=True), queue=Outlook(starts_now=True))
BAD = Verdict((Violation("trainingInput.region", "required"),), (), Parity(accepted=False))


@pytest.fixture
def trainer(tmp_path: Path, fake: FakeService) -> Path:
    fake.buckets.append("stage")
    folder = tmp_path / "trainer"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "task.py").touch()
    return folder


def answer(fake: FakeService, verdict: Verdict) -> None:
    fake.refusals["POST", PATH] = Answer(body=verdicts.Verdict.of(verdict).encode())


def test_a_job_that_would_be_accepted(
    invoke: Callable[..., Result], fake: FakeService, trainer: Path
) -> None:
    answer(fake, GOOD)
    words = ("--module-name=trainer.task", "--job-dir=gs://stage/census", "--", "--epochs", "3")

    result = invoke(*DRY, f"--package-path={trainer}", *words)

    assert result.exit_code == 0
    assert result.stdout == (
        "ACCEPTED: the job would start now.\n\nWarnings:\n- it is late\n\nGoogle's service would "
        "accept the job, by Google's documented rules.\n"
    )
    uri = "gs://stage/census/packages/trainer.tar.gz"
    assert result.stderr == f"Would build and upload {uri}\n"
    sent = fake.last("POST")
    assert sent.query == {"staging": "gs://stage/census/packages/"}
    assert sent.json() == {
        "jobId": "census_1",
        "trainingInput": {
            "pythonModule": "trainer.task",
            "jobDir": "gs://stage/census",
            "packageUris": [uri],
            "args": ["--epochs", "3"],
            "region": "us-central1",
        },
    }
    assert fake.calls() == ["GET /healthz", f"POST {PATH}"]
    assert (fake.jobs, fake.objects) == ({}, {})


@pytest.mark.parametrize("has_setup", [True, False])
def test_what_local_packages_use_is_told_to_the_server(
    invoke: Callable[..., Result], fake: FakeService, trainer: Path, *, has_setup: bool
) -> None:
    """Nothing is built or run for it."""
    answer(fake, GOOD)
    (trainer / "task.py").write_text("import tensorflow as tf\ntf.estimator.RunConfig()\n")
    if has_setup:
        (trainer.parent / "setup.py").write_text("raise SystemExit('run')\n")
    invoke(*DRY, f"--package-path={trainer}", "--job-dir=gs://stage/census")
    uses = {"uses": "estimator:trainer/task.py:2"}
    assert fake.last("POST").query == {"staging": "gs://stage/census/packages/", **uses}

    archive = trainer.parent / "t.tar.gz"
    archive.write_bytes(pack_trainer((trainer / "task.py").read_text()))
    invoke(*DRY, f"--packages={archive}", "--job-dir=gs://stage/census", "--module-name=m")
    assert fake.last("POST").query == {"staging": "gs://stage/census/packages/", **uses}


def test_a_module_that_is_not_there_is_found_without_a_build(
    invoke: Callable[..., Result], trainer: Path
) -> None:
    words = ("--module-name=trainer.tsk", "--job-dir=gs://stage/census")
    result = invoke(*DRY, f"--package-path={trainer}", *words)
    assert result.exit_code == 1
    assert result.stderr == (
        "Error: --module-name: 'trainer.tsk' given, a module that trainer-0.0.0.tar.gz doesn't "
        "have; did you mean trainer.task?\n"
    )


def test_a_job_that_would_be_refused(invoke: Callable[..., Result], fake: FakeService) -> None:
    answer(fake, BAD)

    result = invoke(*DRY, "--packages=gs://stage/t.tar.gz", "--module-name=m")

    assert result.exit_code == 1
    assert result.stdout == (
        "REJECTED: 1 field is wrong.\n- trainingInput.region: required\n\nGoogle's service would "
        "refuse the job:\n"
    )
    assert result.stderr == ""
    assert fake.last("POST").query == {}


def test_packages_that_are_there_keep_their_names(
    invoke: Callable[..., Result], fake: FakeService, trainer: Path
) -> None:
    """A built package lies where a submit puts it, by its content."""
    answer(fake, GOOD)
    wheel = trainer.parent / "extra-0.1-py3-none-any.whl"
    wheel.write_bytes(b"content")
    words = (
        f"--packages={wheel},gs://b/t.tar.gz",
        "--staging-bucket=gs://stage",
        "--module-name=m",
    )

    invoke(*DRY, *words)
    forecasted = fake.last("POST").json()["trainingInput"]["packageUris"]
    invoke(*(word for word in DRY if word != "--dry-run"), *words)

    assert forecasted == fake.last("POST").json()["trainingInput"]["packageUris"]


def test_the_whole_verdict_as_json(invoke: Callable[..., Result], fake: FakeService) -> None:
    answer(fake, BAD)

    result = invoke(*DRY, "--packages=gs://stage/t.tar.gz", "--module-name=m", "--format=json")

    assert result.exit_code == 1
    assert json.loads(result.stdout) == verdicts.Verdict.of(BAD).encode()


def test_a_field_for_scripts(invoke: Callable[..., Result], fake: FakeService) -> None:
    answer(fake, GOOD)
    words = ("--packages=gs://stage/t.tar.gz", "--format=value(verdict,parity.accepted)")

    assert invoke(*DRY, *words).stdout == "ACCEPTED\tYES\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--package-path=nowhere", "--job-dir=gs://b/x"), "nowhere is not a folder"),
        (("--package-path=.",), "local packages need a bucket: give --staging-bucket or --job-dir"),
        (("--packages=no.whl", "--job-dir=gs://b/x"), "no.whl: No such file or directory"),
    ],
)
def test_packages_that_could_not_be_staged(
    invoke: Callable[..., Result], fake: FakeService, words: tuple[str, ...], said: str
) -> None:
    result = invoke(*DRY, *words)

    assert result.exit_code in (1, 2)
    assert said in result.stderr
    assert f"POST {PATH}" not in fake.calls()


def test_what_is_no_verdict(invoke: Callable[..., Result], fake: FakeService) -> None:
    fake.refusals["POST", PATH] = Answer(body={"hello": "world"})

    result = invoke(*DRY, "--packages=gs://stage/t.tar.gz")

    assert result.exit_code == 1
    assert "the server sent an invalid answer: verdict" in result.stderr


@pytest.mark.parametrize(
    ("verdict", "colour"),
    [
        (GOOD, "\x1b[32m"),
        (BAD, "\x1b[31m"),
        (replace(GOOD, queue=Outlook(starts_now=False, text="Waits for 1 GPU.")), "\x1b[33m"),
    ],
)
@pytest.mark.usefixtures("invoke")
def test_it_is_green_only_if_it_would_start_now(
    fake: FakeService, monkeypatch: pytest.MonkeyPatch, verdict: Verdict, colour: str
) -> None:
    answer(fake, verdict)
    words = [*DRY, "--packages=gs://b/t.tar.gz", "--module-name=m"]
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert CliRunner().invoke(main, words, color=True).stdout.startswith(colour)

    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in CliRunner().invoke(main, words, color=True).output


@pytest.mark.usefixtures("invoke")
def test_no_colour_is_wanted_of_errors_either(
    fake: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.refusals["POST", PATH] = failure(503, "UNAVAILABLE", "the database is away")
    words = [*DRY, "--packages=gs://b/t.tar.gz", "--module-name=m"]
    monkeypatch.setenv("NO_COLOR", "1")
    assert "Error: the database is away" in CliRunner().invoke(main, words, color=True).stderr


def test_the_packages_of_a_job_are_built_and_checked(
    invoke: Callable[..., Result], fake: FakeService, trainer: Path
) -> None:
    answer(fake, GOOD)
    check = PackageCheck("gs://stage/t.tar.gz", ("master",), "2.11", error="it doesn't build")
    path = PATH.replace("validate", "checkPackages")
    fake.refusals["POST", path] = Answer(body=PackageChecks.of((check,)).encode())
    words = ("--module-name=trainer.task", "--job-dir=gs://stage/census", "--check-packages")

    result = invoke(*DRY, f"--package-path={trainer}", *words)

    assert result.exit_code == 1
    assert result.stdout.endswith("\n\nit doesn't build\n")
    sent = fake.last("POST")
    assert sent.query == {"staging": "gs://stage/census/packages/"}
    (package,) = sent.json()["packages"]
    assert package["uri"].endswith("/trainer-0.0.0.tar.gz")
    assert fake.objects == {}


def test_the_packages_of_a_refused_job_are_not_checked(
    invoke: Callable[..., Result], fake: FakeService, trainer: Path
) -> None:
    answer(fake, BAD)
    words = ("--module-name=trainer.task", "--job-dir=gs://stage/census", "--check-packages")

    result = invoke(*DRY, f"--package-path={trainer}", *words)

    assert result.exit_code == 1
    assert fake.calls() == ["GET /healthz", f"POST {PATH}"]
