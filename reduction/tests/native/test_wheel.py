"""Wheels of the distribution, built where there is a compiler, and where there is none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import numpy as np
import pytest

from tests.support.requirements import needs_packages

DISTRIBUTION = Path(__file__).parents[2]


@needs_packages("a C++ compiler", "g++")
def test_with_a_compiler_the_wheel_has_the_native_engine(tmp_path: Path) -> None:
    wheel = _build(tmp_path, {})
    assert "-py3-none-linux_" in wheel.name
    lines = _info_of_clean_installation(wheel, tmp_path / "venv")
    assert lines[2].startswith("engine native (")
    assert lines[3].startswith("engine portable (")


@pytest.mark.parametrize("compiler", ["", "no-such-compiler", "false"])
def test_without_one_the_wheel_is_pure_and_says_so(tmp_path: Path, compiler: str) -> None:
    wheel = _build(tmp_path, {"CXX": compiler})
    assert wheel.name.endswith("-py3-none-any.whl")
    lines = _info_of_clean_installation(wheel, tmp_path / "venv")
    assert lines[2].startswith("engine portable (")
    assert "C++ compiler (g++)" in lines[3]


def _build(tmp_path: Path, settings: dict[str, str]) -> Path:
    source = tmp_path / "source"
    shutil.copytree(DISTRIBUTION, source, ignore=shutil.ignore_patterns("core.so", "__pycache__"))
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    environment = {key: value for key, value in os.environ.items() if key != "CXX"}
    subprocess.run(command, cwd=source, env={**environment, **settings}, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    return wheel


def _info_of_clean_installation(wheel: Path, where: Path) -> list[str]:
    """NumPy is borrowed, and nothing else."""
    venv.create(where, symlinks=True, with_pip=False)
    (packages,) = where.glob("lib/python*/site-packages")
    shutil.unpack_archive(wheel, packages, "zip")
    numpy = Path(np.__file__).parent
    for borrowed in (numpy, numpy.with_name("numpy.libs")):
        if borrowed.exists():
            packages.joinpath(borrowed.name).symlink_to(borrowed)
    command = [str(where / "bin" / "python"), "-I", "-m", "footplate_reduction", "info"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()
