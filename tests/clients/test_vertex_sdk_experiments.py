"""Experiments with the unmodified google-cloud-aiplatform, new and old, over REST."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from footplate.testing.service import FOOTPLATE, RunningService
from tests.clients.conftest import SDK_VERSIONS
from tests.support.client_environments import python_of
from tests.support.forked_process import run_footplate
from tests.support.own_process import case_names, run_scripts

Errors = Callable[[str], dict[Path, dict[str, str]]]

HERE = Path(__file__).parent
EXPERIMENTS, FRAMES = HERE / "experiment_cases.py", HERE / "experiment_frame_cases.py"
PAGE = HERE.parents[1] / "docs" / "how-to" / "track-experiments.md"
PANDAS = "1.71.1"
"""The version of the SDK beside which pandas is installed."""
LAUNCHER = (*FOOTPLATE, "run", "--")


@pytest.fixture(scope="module")
def sdk_errors(
    service: RunningService, home: Path, tmp_path_factory: pytest.TempPathFactory
) -> Errors:
    """What went wrong in the scripts of a version of the SDK, which one process runs once."""

    @cache
    def run_all(version: str) -> dict[Path, dict[str, str]]:
        scripts = (EXPERIMENTS, FRAMES) if version == PANDAS else (EXPERIMENTS,)
        folder = tmp_path_factory.mktemp("experiments")
        environment = service.environment(HOME=str(home), SDK_TRANSPORT="rest")
        return run_scripts(scripts, environment, folder, LAUNCHER, python_of(version))

    return run_all


@pytest.mark.parametrize("version", SDK_VERSIONS)
@pytest.mark.parametrize("name", case_names(EXPERIMENTS))
def test_experiments(version: str, name: str, sdk_errors: Errors) -> None:
    error = sdk_errors(version)[EXPERIMENTS][name]
    assert not error, error


@pytest.mark.parametrize("version", [PANDAS])
def test_data_frames(version: str, sdk_errors: Errors) -> None:
    errors = sdk_errors(version)[FRAMES]
    assert not any(errors.values()), errors


@pytest.mark.parametrize("version", [PANDAS])
def test_the_script_of_the_page(
    version: str, service: RunningService, home: Path, tmp_path: Path
) -> None:
    code = re.search(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert code is not None
    (tmp_path / "track.py").write_text(code[1])
    words = ("run", "--", python_of(version), "track.py")
    done = run_footplate(*words, env=service.environment(HOME=str(home)), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert all(f"rate-0-{rate}" in done.stdout for rate in ("1", "01")), done.stdout
    assert "metric.accuracy" in done.stdout
