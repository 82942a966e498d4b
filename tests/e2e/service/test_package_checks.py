"""``--dry-run --check-packages`` against a service: the sentence is that of the job's failure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from footplate.domain.job_states import State
from footplate.testing.service import running_service
from tests.e2e.service.conftest import CACHE, Context
from tests.e2e.service.tuning_helpers import told
from tests.support.environments import make_wheel
from tests.support.forked_process import run_footplate
from tests.support.trainers import SETUP

HELPER = "footplate-test-helper"


def test_a_check_foretells_how_the_preparation_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    make_wheel(wheels, HELPER, "1.0")
    monkeypatch.setenv("UV_FIND_LINKS", str(wheels))
    with running_service(tmp_path / "data", CACHE, stop_grace_s=1) as service:
        context = Context(service)
        good = check(context, tmp_path / "good", f"{HELPER}<2")
        bad = check(context, tmp_path / "bad", f"{HELPER}>=2")
        name = context.submit("", setup=SETUP.format(requires=[f"{HELPER}>=2"]))
        failed = context.wait_for(name, State.FAILED)

    assert good == (0, [("OK", f"{HELPER}==1.0")])
    ((result, error),) = bad[1]
    assert (bad[0], result) == (1, "FAILED")
    sentence = error.replace("trainer-0.1.0.tar.gz", "job_1.tar.gz")
    assert "is not available for Python" in sentence
    assert sentence in failed.error_message


def test_a_submit_warns_of_what_a_package_uses(tmp_path: Path) -> None:
    """As the dry run of the same code, which isn't uploaded."""
    task = "import tensorflow as tf\ntf.estimator.RunConfig()\n"
    package = tmp_path / "trainer"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "task.py").write_text(task)
    command = ["ai-platform", "jobs", "submit", "training", "census", "--dry-run", "--format=json"]
    command += [f"--package-path={package}", "--module-name=trainer.task", "--project=demo"]
    with running_service(tmp_path / "data", CACHE, stop_grace_s=1) as service:
        context = Context(service)
        warnings = told(context, context.submit(task, runtimeVersion="2.21"), "WARNING")
        context.end_jobs()
        environment = service.environment()
        ended = run_footplate(
            *command, "--runtime-version=2.21", "--staging-bucket=gs://stage", env=environment
        )

    (said,) = [text for text in warnings if "estimator" in text]
    assert said.startswith("trainer/task.py:2 uses tf.estimator, which ended with")
    assert said in json.loads(ended.stdout)["warnings"]


def check(context: Context, folder: Path, requirement: str) -> tuple[int, list[tuple[str, str]]]:
    """The exit code, and each package's result with what it adds or why it fails."""
    package = folder / "trainer"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "task.py").write_text("print('hello')\n")
    (folder / "setup.py").write_text(SETUP.format(requires=[requirement]))
    command = ["ai-platform", "jobs", "submit", "training", "census", "--dry-run"]
    command += ["--check-packages", "--format=json", "--region=us-central1", "--project=demo"]
    command += [f"--package-path={package}", "--module-name=trainer.task"]
    environment = context.service.environment()
    ended = run_footplate(*command, "--staging-bucket=gs://stage", env=environment)
    assert ended.stdout, ended.stderr
    found = json.loads(ended.stdout)["packages"]
    results = [(one["result"], one.get("error") or ", ".join(one["adds"])) for one in found]
    return ended.returncode, results
