"""Packages resolved by the supervisor's archive; the only index is a folder of wheels."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import pytest

from footplate.domain.errors import DeadlineExceeded
from footplate.domain.runtimes import Runtime, Runtimes, Slice
from footplate.ports.package_resolver import EnvironmentRequest, Resolution
from footplate.replica.isolation.procfs import Process, find_all
from footplate.replica.supervisor_archive import build_archive
from footplate.server.data_dir import DataDir
from footplate.server.package_resolver import ProcessResolver
from footplate.settings import Settings
from tests.support.environments import digest, lock, make_sdist, make_wheel
from tests.support.promised import make_promised

URI = "gs://stage/trainer-0.1.tar.gz"
SLOW = """\
import os, time

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    open(os.path.join(os.environ["TMPDIR"], "started"), "w").close()
    time.sleep(600)
"""
STARTED = "started"


class Rig:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "wheels").mkdir()
        alpha = make_wheel(folder / "wheels", "alpha", "1.0", files={"alpha.py": ""})
        text = lock(alpha)
        python = f"{sys.version_info.major}.{sys.version_info.minor}"
        self.runtime = Runtime("9.9", python, (Slice("whole", digest(text), ()),))
        self.runtimes = Runtimes((), "9.9", {digest(text): text})
        self.data_dir = DataDir(folder / "data")
        self.data_dir.make()

    def resolve(self, package: Path, limit_s: float = 120.0) -> Resolution:
        return asyncio.run(self.resolving(package, limit_s))

    async def resolving(self, package: Path, limit_s: float = 120.0) -> Resolution:
        settings = Settings(
            data_dir=self.data_dir.root,
            cache_dir=self.folder / "cache",
            pythons=(f"{sys.base_prefix}/bin/python3",),
        )
        archive = build_archive(self.folder)
        resolver = ProcessResolver(
            settings, self.data_dir, self.runtimes, archive, make_promised, limit_s
        )

        def open_package(_: str) -> BinaryIO:
            return BytesIO(package.read_bytes())

        request = EnvironmentRequest(self.runtime, "trainer.task", (URI,))
        return await resolver.resolve(request, open_package)

    def left(self) -> list[Path]:
        return list((self.data_dir.root / "package-checks").iterdir())


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Rig:
    monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path / "wheels"))
    monkeypatch.setenv("UV_NO_INDEX", "1")
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv-cache"))
    return Rig(tmp_path)


def test_what_would_be_installed_and_what_can_not_be(rig: Rig) -> None:
    make_wheel(rig.folder / "wheels", "gamma", "3.0")
    good = make_sdist(rig.folder, "trainer", requires=["gamma", "alpha"])
    assert rig.resolve(good) == Resolution(("gamma==3.0",))

    bad = make_sdist(rig.folder, "trainer", requires=["absent>=2"])
    error = rig.resolve(bad).error

    assert error.startswith(
        "the requirement absent of trainer-0.1.tar.gz is not available for Python"
    )
    assert rig.left() == []


def test_a_check_that_takes_too_long_leaves_no_process(rig: Rig) -> None:
    """By the limit, and where the client goes."""
    slow = make_sdist(rig.folder, "trainer", backend=SLOW)

    with pytest.raises(
        DeadlineExceeded, match=r"the packages trainer-0\.1\.tar\.gz took longer than 0"
    ):
        rig.resolve(slow, limit_s=0.01)

    async def cancel() -> list[Process]:
        task = asyncio.create_task(rig.resolving(slow))
        await asyncio.to_thread(until, lambda: _has_started(rig.data_dir.root))
        processes = find_checks(rig.data_dir.root)
        task.cancel()
        await asyncio.wait((task,))
        assert task.cancelled()
        return processes

    assert asyncio.run(cancel()) != []

    assert rig.left() == []
    until(lambda: find_checks(rig.data_dir.root) == [])


def find_checks(root: Path) -> list[Process]:
    """The processes with a path below ``root`` in their environment."""
    return [process for process in find_all() if os.fsencode(root) in _environment(process.pid)]


def _environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:  # it has ended
        return b""


def _has_started(root: Path) -> bool:
    """Whether the build has written into its directory for temporary files."""
    return any(STARTED in names for _, _, names in os.walk(root))


def until(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + 120
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)
