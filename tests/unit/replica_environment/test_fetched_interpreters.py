"""Interpreters that uv fetches: where they come from, and that the service never runs them."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
import tarfile
from pathlib import Path

import pytest

from footplate.domain.runtimes import Runtime, Slice
from tests.support.environments import Bench, Outcome, digest, lock, make_sdist, make_wheel

MINOR = f"{sys.version_info.major}.{sys.version_info.minor}"
VERSION = f"{MINOR}.99"
KEY = f"cpython-{VERSION}-linux-{platform.machine()}-gnu"
WRAPPER = """#!/bin/sh
PATH=/usr/bin:/bin
[ "$(readlink /proc/self/ns/pid)" = "{outside}" ] && echo "$0 runs outside" > {mark} && exit 9
exec {real} "$@"
"""


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    return tmp_path / "ran-outside"


@pytest.fixture
def mirror(tmp_path: Path, mark: Path) -> Path:
    """A list of what uv may download: one interpreter, which notes where it is run."""
    top = tmp_path / "python"
    (top / "bin").mkdir(parents=True)
    outside = Path("/proc/self/ns/pid").readlink()
    real = Path(sys.executable).resolve()
    program = top / "bin" / f"python{MINOR}"
    program.write_text(WRAPPER.format(outside=outside, mark=mark, real=real))
    program.chmod(0o755)
    (top / "bin" / "python").symlink_to(program.name)
    library = top / "lib" / f"python{MINOR}"
    library.mkdir(parents=True)
    (library / f"_sysconfigdata__linux_{platform.machine()}-linux-gnu.py").write_text(
        "# system configuration generated and used by the sysconfig module\nbuild_time_vars = {}\n"
    )
    archive = tmp_path / "python.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(top, "python")
    major, minor = sys.version_info[:2]
    entry = {
        "name": "cpython",
        "os": "linux",
        "libc": "gnu",
        "prerelease": "",
        "variant": None,
        "arch": {"family": platform.machine(), "variant": None},
        "major": major,
        "minor": minor,
        "patch": 99,
        "build": "20260101",
        "url": archive.as_uri(),
        "sha256": hashlib.sha256(archive.read_bytes()).hexdigest(),
    }
    listed = tmp_path / "downloads.json"
    listed.write_text(json.dumps({KEY: entry}))
    return listed


@pytest.fixture
def bare(bench: Bench, tmp_path: Path, mirror: Path) -> Bench:
    """A machine without an interpreter."""
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    bench.pythons = []
    # The interpreter that prepares is no interpreter of the machine's: it says it has no home.
    code = (
        f"import runpy, sys; sys.base_prefix = {str(nothing)!r}; sys.argv.pop(0); "
        "runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    own = tmp_path / "own-python"
    own.write_text(f'#!/bin/sh\nshift 2\nexec {bench.interpreter} -I -S -c "{code}" "$@"\n')
    own.chmod(0o755)
    bench.interpreter = str(own)
    bench.variables |= {
        "PATH": str(nothing),
        "HOME": str(nothing),
        "PYENV_ROOT": str(nothing),
        "UV_PYTHON_DOWNLOADS_JSON_URL": str(mirror),
        "UV_PYTHON_INSTALL_DIR": str(nothing),
    }
    return bench


def prepare(bench: Bench, wheels: Path, *packages: Path, fetches: bool) -> Outcome:
    text = lock(make_wheel(wheels, "alpha", "1.0", files={"alpha.py": ""}))
    bench.server.locks[digest(text)] = text
    home = bench.make_home(Runtime("9.9", MINOR, (Slice("whole", digest(text)),)), *packages)
    ticket = json.loads((home / "ticket.json").read_text())
    (home / "ticket.json").write_text(json.dumps({**ticket, "fetch_interpreters": fetches}))
    return bench.prepare(home)


def test_what_is_fetched_runs_as_builds_alone(
    bare: Bench, wheels: Path, tmp_path: Path, mark: Path
) -> None:
    trainer = make_sdist(tmp_path, "trainer", files={"trainer/__init__.py": ""})
    outcome = prepare(bare, wheels, trainer, fetches=True)
    assert outcome.code == 0, outcome
    assert f"downloading Python {MINOR}, which this machine lacks" in outcome.messages
    python = Path(outcome.python)
    assert not mark.exists()
    site = python.parent.parent / "lib" / f"python{MINOR}" / "site-packages"
    assert (site / "trainer" / "__init__.py").exists()
    again = prepare(bare, wheels, trainer, fetches=False)  # it is there
    assert again.code == 0, again
    assert not mark.exists()


def test_nothing_is_fetched_where_the_setting_is_off(bare: Bench, wheels: Path) -> None:
    outcome = prepare(bare, wheels, fetches=False)
    assert outcome.error.startswith(f"Python {MINOR}, which runtime 9.9 needs, isn't on this mach")
    assert not (bare.cache / "pythons").exists()


def test_what_can_not_be_fetched(bare: Bench, wheels: Path, mirror: Path) -> None:
    mirror.with_name("python.tar.gz").unlink()
    outcome = prepare(bare, wheels, fetches=True)
    assert f"Python {MINOR}, which runtime 9.9 needs, isn't on this machine" in outcome.error
    assert ". uv can't download this Python: " in outcome.error


def test_what_does_not_run_here(bare: Bench, wheels: Path, mirror: Path) -> None:
    program = bare.cache.resolve() / "pythons" / KEY / "bin" / f"python{MINOR}"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho Illegal instruction\nexit 132\n")
    program.chmod(0o755)
    outcome = prepare(bare, wheels, fetches=True)
    assert outcome.error.startswith(f"the downloaded Python {program} doesn't run here: ")
    assert "Illegal instruction" in outcome.error
