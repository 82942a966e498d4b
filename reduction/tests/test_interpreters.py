"""The package is built and right under the oldest and the newest Python that it is for."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.interpreters import find_interpreters

if TYPE_CHECKING:
    from reduction.tests.rig import ReducerProcesses

SOURCE = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def pythons(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("pythons")
    source = shutil.copytree(SOURCE, folder / "source", ignore=shutil.ignore_patterns("*.so"))
    found = find_interpreters()
    ends = dict.fromkeys((found[0], found[-1]))
    return [install(python, source, folder / Path(python).name) for python in ends]


def install(python: str, source: Path, environment: Path) -> str:
    subprocess.run([python, "-m", "venv", str(environment)], check=True)
    installed = str(environment / "bin" / "python")
    quiet = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    subprocess.run([installed, "-m", "pip", "-q", "install", source], check=True, env=quiet)
    return installed


def test_all_have_the_same_sum(reducers: ReducerProcesses, pythons: list[str]) -> None:
    old = reducers.start(1, python=pythons[0])
    new = reducers.start(1, python=pythons[-1])
    workers = reducers.workers(3, old + new, pythons=[*pythons, sys.executable])
    for worker in workers:
        worker.tell("digest 100000")
    assert len({worker.answer()["digest"] for worker in workers}) == 1
