"""Packages with a setup.py and no pyproject.toml: they are built in the runtime's environment."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from footplate.domain.runtimes import Runtime, Slice
from footplate.replica.environment.installed_distributions import can_build
from footplate.replica.environment.packages import is_legacy
from tests.support.environments import BACKEND, Bench, Outcome, digest, lock, make_wheel
from tests.support.trainers import pack

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
SETUPTOOLS = """
import os, sys

class Legacy:
    def build_wheel(self, wheel_directory, config_settings=None, metadata_directory=None):
        sys.path.insert(0, os.getcwd())
        with open("setup.py") as file:
            exec(file.read(), {})
        from backend import build_wheel
        return build_wheel(wheel_directory)

__legacy__ = Legacy()
"""
"""Of a setuptools that only runs setup.py."""


@pytest.mark.parametrize(
    ("names", "legacy"),
    [
        (["t-1/setup.py", "t-1/t/task.py"], True),
        (["./t-1/setup.py", "./t-1/t/pyproject.toml"], True),
        (["setup.py", "t/pyproject.toml", "t/setup.py"], True),
        (["t-1/setup.py", "t-1/pyproject.toml"], False),
        (["setup.py", "pyproject.toml"], False),
        (["t-1/pyproject.toml"], False),
        (["t-1/t/setup.py"], False),
        ([], False),
    ],
)
def test_which_packages_these_are(names: list[str], *, legacy: bool) -> None:
    assert is_legacy(names) == legacy


@pytest.mark.parametrize(
    ("installed", "can"),
    [
        (["setuptools-65.7.0", "wheel-0.38.4"], True),
        (["setuptools-80.10.2"], True),
        (["setuptools-65.7.0"], False),
        (["wheel-0.38.4"], False),
        ([], False),
    ],
)
def test_which_runtimes_can_build(tmp_path: Path, installed: list[str], *, can: bool) -> None:
    for name in installed:
        (tmp_path / f"{name}.dist-info").mkdir()
    assert can_build(str(tmp_path)) == can


@pytest.fixture
def runtime(bench: Bench, wheels: Path) -> Runtime:
    alpha = make_wheel(wheels, "alpha", "1.0", files={"alpha.py": "version = '1.0'\n"})
    files = {"setuptools/__init__.py": "", "setuptools/build_meta.py": SETUPTOOLS}
    text = lock(alpha, make_wheel(wheels, "setuptools", "80.0", files=files))
    bench.server.locks[digest(text)] = text
    return Runtime("9.9", PYTHON, (Slice("whole", digest(text)),))


def build(bench: Bench, runtime: Runtime, setup: str) -> Outcome:
    info = "content/old-0.1.dist-info"
    members = {
        "setup.py": setup,
        "trainer/__init__.py": "version = '0.1'\n",
        "backend.py": BACKEND.format(name="old", version="0.1"),
        "content/old.py": "",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: old\nVersion: 0.1\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
    }
    path = bench.directory / "old-0.1.tar.gz"
    path.write_bytes(pack({f"old-0.1/{name}": text for name, text in members.items()}))
    return bench.prepare(bench.make_home(runtime, path))


def test_it_imports_what_the_runtime_has_and_its_own_package(
    bench: Bench, runtime: Runtime
) -> None:
    setup = "import alpha, trainer\nassert (alpha.version, trainer.version) == ('1.0', '0.1')\n"
    outcome = build(bench, runtime, setup)
    assert outcome.code == 0, outcome
    assert outcome.run("import old, alpha") == ""


def test_pip_in_it_installs_for_the_build(bench: Bench, runtime: Runtime, wheels: Path) -> None:
    """The program gets what the package requires."""
    make_wheel(wheels, "beta", "2.0", files={"beta.py": ""})
    bench.variables["PIP_FIND_LINKS"] = str(wheels)
    bench.variables["PIP_NO_INDEX"] = "1"
    setup = (
        "import subprocess\n"
        "subprocess.run(['pip', 'install', '--user', 'beta'], check=True)\n"
        "import beta\n"
    )
    outcome = build(bench, runtime, setup)
    assert outcome.code == 0, outcome
    told = "your setup.py installs beta 2.0 by pip, but only for the build: "
    assert f"{told}the program gets only what install_requires names" in outcome.messages


@pytest.mark.parametrize(
    "command",
    [
        "subprocess.run(['apt-get', 'install', 'libgomp1'], check=True)",
        "subprocess.check_call('apt-get install -y libgomp1', shell=True)",
    ],
)
def test_packages_of_the_system_cannot_be_installed(
    bench: Bench, runtime: Runtime, command: str
) -> None:
    bench.variables["PATH"] = str(bench.directory)  # without apt-get, on any machine
    outcome = build(bench, runtime, f"import subprocess\n{command}\n")
    assert outcome.error.startswith(f"the build of old-0.1.tar.gz for Python {PYTHON}")
    assert "apt-get can't install packages of the system: programs and builds run" in outcome.error
    assert "a container image that has them" in outcome.error


def test_a_runtime_without_setuptools_leaves_builds_to_themselves(
    bench: Bench, runtime: Runtime, wheels: Path
) -> None:
    text = lock(wheels / "alpha-1.0-py3-none-any.whl")
    bench.server.locks[digest(text)] = text
    bare = Runtime("9.8", PYTHON, (Slice("whole", digest(text)),))
    outcome = build(bench, bare, "import trainer\nimport alpha\n")
    assert "No module named 'alpha'" in outcome.error
