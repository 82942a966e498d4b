"""``make dist``: what is in the files of a release, and a first job on each Python."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
import uv

from footplate.testing.service import outside
from tests.support import ROOT
from tests.support.client_environments import environment_of
from tests.support.interpreters import find_interpreters

PYTHONS = ("3.11", "3.12", "3.13")
RUNTIME_PYTHON = "python3.11"
"""What the newest runtime needs: that of the service itself, where this is one."""
TRAINER = "print('hello from the wheel', flush=True)\n"
LIMIT_S = 900


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dist(tmp_path_factory.mktemp("dist"))


def make_dist(to: Path) -> Path:
    python = environment_of("release", ROOT / "requirements")
    command = (python, "tools/make_dist.py", "--to", str(to))
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=LIMIT_S
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return to


def wheel_of(dist: Path) -> Path:
    (wheel,) = dist.glob("footplate-*.whl")
    return wheel


def test_the_files_of_a_release(dist: Path) -> None:
    wheel = wheel_of(dist)
    version = wheel.name.split("-")[1]

    assert sorted(path.name for path in dist.iterdir()) == sorted(
        (
            "SHA256SUMS",
            f"footplate-{version}-py3-none-any.whl",
            f"footplate-{version}.tar.gz",
            f"footplate_reduction-{version}-py3-none-manylinux_2_17_aarch64.whl",
            f"footplate_reduction-{version}-py3-none-manylinux_2_17_x86_64.whl",
            f"footplate_reduction-{version}.tar.gz",
        )
    )
    names = ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in names} == {
        "footplate",
        "footplate_algorithms",
        f"footplate-{version}.dist-info",
    }
    inner = sorted(name.rpartition("_")[2] for name in names if name.endswith(".whl"))
    assert len(inner) == 2
    for needed in (
        "footplate/console/static/vendor/htmx.min.js",
        "footplate/console/static/vendor/LICENSE.echarts",
        "footplate/py.typed",
        f"footplate-{version}.dist-info/licenses/LICENSE",
    ):
        assert needed in names
    assert not [name for name in names if "/test_" in name or name.endswith((".pyc", ".so"))]


def test_the_same_commit_makes_the_same_bytes(dist: Path, tmp_path: Path) -> None:
    again = make_dist(tmp_path / "again")

    for path in dist.iterdir():
        assert (again / path.name).read_bytes() == path.read_bytes(), path.name


@pytest.mark.parametrize("python", PYTHONS)
def test_a_first_job_from_the_wheel(dist: Path, tmp_path: Path, python: str) -> None:
    """Without a compiler, Node or git, for a user who has nothing yet."""
    install = Installed(tmp_path, find_python(python))
    install.uv("venv", "-q", f"--python={install.python}", str(install.folder))
    install.uv("pip", "install", "-q", f"--python={install.folder}/bin/python", wheel_of(dist))

    said = install.footplate("--version")
    assert wheel_of(dist).name.split("-")[1] in said
    commit = subprocess.run(
        ("git", "rev-parse", "--short=12", "HEAD"), cwd=ROOT, capture_output=True, check=True
    )
    assert f"(commit {commit.stdout.decode().strip()})" in said

    trainer = tmp_path / "trainer"
    trainer.mkdir()
    (trainer / "__init__.py").touch()
    (trainer / "task.py").write_text(TRAINER)
    install.footplate("up", "--detach", "--port", "0")
    try:
        install.footplate("storage", "buckets", "create", "gs://stage")
        words = ("--package-path", str(trainer), "--module-name", "trainer.task")
        submit = ("ai-platform", "jobs", "submit", "training", "first", "--stream-logs")
        said = install.footplate(*submit, *words, "--job-dir", "gs://stage/first")
        assert "hello from the wheel" in said
        assert "reduction servers can run" in install.footplate("doctor")
    finally:
        install.footplate("down", "--yes")


def find_python(version: str) -> str:
    if version == ".".join(map(str, sys.version_info[:2])):
        return str(Path(sys.base_prefix, "bin", f"python{version}"))
    found = [path for path in find_interpreters() if path.endswith(f"python{version}")]
    if not found:
        pytest.skip(f"needs Python {version}: pyenv install {version}")
    return found[0]


class Installed:
    """An environment of its own, and a user's home with nothing in it."""

    def __init__(self, home: Path, python: str) -> None:
        self.python = python
        self.folder = home / "environment"
        programs = home / "programs"
        programs.mkdir()
        for name in ("sh", "tar", "ps"):
            found = shutil.which(name)
            assert found is not None
            (programs / name).symlink_to(found)
        if not python.endswith(RUNTIME_PYTHON):
            (programs / RUNTIME_PYTHON).symlink_to(find_python("3.11"))
        kept = {name: text for name, text in outside(os.environ).items() if name.startswith(KEPT)}
        self.environment = {**kept, "HOME": str(home), "PATH": str(programs)}

    def uv(self, *words: str | Path) -> None:
        self._run(uv.find_uv_bin(), *map(str, words))

    def footplate(self, *words: str) -> str:
        return self._run(str(self.folder / "bin" / "footplate"), *words)

    def _run(self, *command: str) -> str:
        done = subprocess.run(
            command,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=LIMIT_S,
        )
        assert done.returncode == 0, f"{command}: {done.stdout}"
        return done.stdout


KEPT = ("PIP_", "UV_", "SSL_", "LANG", "http", "HTTP", "TMPDIR")
"""How packages are found here."""
