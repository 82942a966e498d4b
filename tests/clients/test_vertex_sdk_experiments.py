"""Experiments with the unmodified google-cloud-aiplatform, new and old, over REST."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.client_environments import environment_of
from tests.support.forked_process import run_footplate
from tests.support.own_process import case_names, run_cases

if TYPE_CHECKING:
    from footplate.testing.service import RunningService

HERE = Path(__file__).parent
EXPERIMENTS, FRAMES = HERE / "experiment_cases.py", HERE / "experiment_frame_cases.py"
PAGE = HERE.parents[1] / "docs" / "how-to" / "track-experiments.md"
MAIN = (sys.executable, "-c", "from footplate.cli.main import main; main()")


def run(
    service: RunningService, script: Path, home: Path, folder: Path, python: str
) -> dict[str, str]:
    environment = service.environment(HOME=str(home))
    return run_cases(script, environment, folder, launcher=(*MAIN, "run", "--"), python=python)


@pytest.fixture(scope="session")
def errors(
    sdk_python: str, service: RunningService, home: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    return run(service, EXPERIMENTS, home, tmp_path_factory.mktemp("experiments"), sdk_python)


@pytest.mark.parametrize("name", case_names(EXPERIMENTS))
def test_experiments(name: str, errors: dict[str, str]) -> None:
    assert not errors[name], errors[name]


def test_data_frames(service: RunningService, home: Path, tmp_path: Path) -> None:
    errors = run(service, FRAMES, home, tmp_path, environment_of("aiplatform-1.71.1"))
    assert not any(errors.values()), errors


def test_the_script_of_the_page(service: RunningService, home: Path, tmp_path: Path) -> None:
    code = re.search(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert code is not None
    (tmp_path / "track.py").write_text(code[1])
    words = ("run", "--", environment_of("aiplatform-1.71.1"), "track.py")
    done = run_footplate(*words, env=service.environment(HOME=str(home)), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert all(f"rate-0-{rate}" in done.stdout for rate in ("1", "01")), done.stdout
    assert "metric.accuracy" in done.stdout
