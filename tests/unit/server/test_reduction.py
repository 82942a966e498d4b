"""The wheel that jobs with reduction servers get: bundled, or made of what is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from importlib import metadata
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest

from footplate.console.static_files import StaticFiles
from footplate.server.wheels import package_directory, reduction_wheel
from tests.support.requirements import needs_packages

ROOT = Path(__file__).parents[3]
NEEDS_LIBRARY = needs_packages("the C++ library of footplate-reduction", "g++")
PLATFORM_TAG = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


@NEEDS_LIBRARY
def test_the_same_files_make_the_same_wheel() -> None:
    first, second = reduction_wheel(), reduction_wheel()

    assert first is not None
    assert second is not None
    assert first.sha256 == second.sha256
    assert first.name.startswith("footplate_reduction-")


@NEEDS_LIBRARY
def test_installers_take_it(tmp_path: Path) -> None:
    """With uv, as replicas do; it checks the hashes of the record."""
    wheel = reduction_wheel()
    assert wheel is not None
    file = tmp_path / wheel.name
    file.write_bytes(wheel.open().read())
    target = tmp_path / "there"

    command = ["uv", "pip", "install", "-q", "--no-deps", "--offline", "--target", str(target)]
    subprocess.run([sys.executable, "-m", *command, str(file)], check=True)

    (installed,) = metadata.distributions(path=[str(target)])
    assert installed.version == metadata.version("footplate-reduction")
    names = [entry.name for entry in installed.entry_points]
    assert "footplate" in names
    listed = {str(path) for path in installed.files or ()}
    assert "footplate_reduction/frames.py" in listed
    assert all("__pycache__" not in name for name in ZipFile(BytesIO(wheel.content)).namelist())


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_one_that_came_with_the_service_is_taken_first(
    tmp_path: Path, machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A release brings one for each kind of machine."""
    monkeypatch.setattr("platform.machine", lambda: machine)
    for name in ("x86_64", "aarch64"):
        file = tmp_path / f"footplate_reduction-9.9-py3-none-manylinux_2_17_{name}.whl"
        file.write_bytes(name.encode())

    wheel = reduction_wheel(tmp_path)

    assert wheel is not None
    assert wheel.name.endswith(f"_{machine}.whl")
    assert wheel.open().read() == machine.encode()


@pytest.mark.parametrize(("compiles", "tag"), [(False, "py3-none-any"), (True, PLATFORM_TAG)])
def test_the_wheel_of_the_service_brings_it_where_a_compiler_is(
    tmp_path: Path, tag: str, *, compiles: bool
) -> None:
    """Through a source distribution, so that this has all that the build needs.

    With a stand-in for the compiler: what a real one makes is tried in ``reduction/tests/native``.
    """
    folders = shutil.ignore_patterns("core.so", "__pycache__", "node_modules")
    clone = tmp_path / "clone"
    for name in ("src", "reduction", "console"):
        shutil.copytree(ROOT / name, clone / name, ignore=folders)
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "CHANGELOG.md"):
        shutil.copy(ROOT / name, clone)
    environment = {**os.environ, "CXX": ""}
    if compiles:
        compiler = tmp_path / "compiler"
        compiler.write_text('#!/bin/sh\nfor last; do :; done\n: > "$last"\n')
        compiler.chmod(0o700)
        environment["CXX"] = str(compiler)

    source = _build(clone, tmp_path / "sdist", "sdist", environment)
    shutil.unpack_archive(source, tmp_path, filter="data")
    unpacked = tmp_path / source.name.removesuffix(".tar.gz")
    wheel = _build(unpacked, tmp_path / "wheel", "wheel", environment)

    assert wheel.stem.endswith(tag)
    shutil.unpack_archive(wheel, tmp_path / "site", "zip")
    static = tmp_path / "site" / "footplate" / "console" / "static"
    assert StaticFiles(static).missing() == ()
    bundled = list((tmp_path / "site" / "footplate" / "server").glob("*.whl"))
    assert [path.name.endswith(f"{tag}.whl") for path in bundled] == [True] * compiles
    for path in bundled:
        assert "footplate_reduction/torch/__init__.py" in ZipFile(path).namelist()


def _build(source: Path, target: Path, kind: str, environment: dict[str, str]) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(target)]
    subprocess.run(command, cwd=source, env=environment, check=True)
    (made,) = target.iterdir()
    return made


def test_without_the_distribution_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("footplate.server.wheels._REDUCTION", "footplate_reduction_missing")

    assert reduction_wheel() is None


def test_without_its_library_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a checkout that was set up without a compiler."""
    installed = package_directory("footplate_reduction")
    assert installed is not None
    uncompiled = shutil.copytree(
        installed, tmp_path / "footplate_reduction", ignore=shutil.ignore_patterns("core.so")
    )
    monkeypatch.setattr("footplate.server.wheels.package_directory", lambda _: uncompiled)

    assert reduction_wheel(tmp_path) is None
