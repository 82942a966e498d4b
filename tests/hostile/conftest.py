"""Supervisors of root and of an ordinary user, whose programs are hostile."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from footplate.replica.supervisor_archive import build_archive

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="is about what root starts")
USERS = [1879048192, 2147352575]
NOBODY = 65534
SYSTEM_PYTHON = "/usr/bin/python3"


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_archive(tmp_path_factory.mktemp("archive"))


@pytest.fixture
def ordinary(archive: Path) -> Iterator[dict[str, Any]]:
    """What makes a replica one of an ordinary user: for himself, or, run by root, for nobody."""
    directory = Path(tempfile.mkdtemp(dir="/var/tmp"))
    directory.chmod(0o755)
    shutil.copy(archive, directory)
    options: dict[str, Any] = {"directory": directory / "service"}
    options["archive"] = directory / archive.name
    if os.geteuid() == 0:
        if not Path(SYSTEM_PYTHON).exists():
            pytest.skip("needs an interpreter that other users may run")
        options |= {"user": NOBODY, "python": SYSTEM_PYTHON}
    yield options
    shutil.rmtree(directory, ignore_errors=True)


def skip_if_unprepared(end: dict[str, Any], options: dict[str, Any]) -> None:
    """Machines differ; where CI runs, only an ordinary user has no control groups."""
    if end["kind"] != "UNPREPARED":
        return
    ordinary = "user" in options or os.geteuid() != 0
    if os.environ.get("CI") == "true" and not (ordinary and options["isolation"] == "cgroup"):
        pytest.fail(end["cause"])
    pytest.skip(end["cause"])
