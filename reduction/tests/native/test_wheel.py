"""Builds of the distribution where there is a compiler, and where there is none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import numpy as np
import pytest

DISTRIBUTION = Path(__file__).parents[2]


def test_the_wheel_has_the_library_and_fits_every_python(tmp_path: Path) -> None:
    built = _build(tmp_path, "-t", "wheel")
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    assert "-py3-none-linux_" in wheel.name
    info = _info_of_clean_installation(wheel, tmp_path / "venv")
    assert info.stdout.splitlines()[2].startswith("adds with ")


@pytest.mark.parametrize("compiler", ["", "no-such-compiler", "false"])
def test_without_a_compiler_there_is_no_wheel(tmp_path: Path, compiler: str) -> None:
    built = _build(tmp_path, "-t", "wheel", CXX=compiler)
    assert built.returncode == 1
    assert not list(tmp_path.glob("*.whl"))
    assert built.stderr.splitlines()[-1] == (
        "footplate-reduction can't compile its C++ library: it needs Linux and a C++ compiler; "
        "install g++, or set CXX to a compiler"
    )


def test_a_checkout_without_the_library_says_what_to_install(tmp_path: Path) -> None:
    built = _build(tmp_path, "-t", "wheel:editable", CXX="")
    assert built.returncode == 0, built.stderr
    where = tmp_path / "venv"
    info = _info(tmp_path / "source" / "src" / "footplate_reduction", where)
    assert info.returncode == 2
    assert info.stderr == (
        "footplate-reduction: footplate-reduction was installed without its C++ library: install "
        "a C++ compiler (g++), then install footplate-reduction again\n"
    )


def _build(tmp_path: Path, *options: str, **settings: str) -> subprocess.CompletedProcess[str]:
    source = tmp_path / "source"
    shutil.copytree(DISTRIBUTION, source, ignore=shutil.ignore_patterns("core.so", "__pycache__"))
    command = [sys.executable, "-m", "hatchling", "build", *options, "-d", str(tmp_path)]
    environment = {key: value for key, value in os.environ.items() if key != "CXX"} | settings
    return subprocess.run(
        command, cwd=source, env=environment, check=False, capture_output=True, text=True
    )


def _info_of_clean_installation(wheel: Path, where: Path) -> subprocess.CompletedProcess[str]:
    unpacked = where.with_name("unpacked")
    shutil.unpack_archive(wheel, unpacked, "zip")
    return _info(unpacked / "footplate_reduction", where)


def _info(package: Path, where: Path) -> subprocess.CompletedProcess[str]:
    """Of the package in a Python with NumPy, which is borrowed, and nothing else."""
    venv.create(where, symlinks=True, with_pip=False)
    (packages,) = where.glob("lib/python*/site-packages")
    numpy = Path(np.__file__).parent
    for borrowed in (package, numpy, numpy.with_name("numpy.libs")):
        if borrowed.exists():
            packages.joinpath(borrowed.name).symlink_to(borrowed)
    command = [str(where / "bin" / "python"), "-I", "-m", "footplate_reduction", "info"]
    return subprocess.run(command, check=False, capture_output=True, text=True)
