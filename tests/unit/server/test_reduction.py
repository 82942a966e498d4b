"""The wheel that is made of what is installed."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from io import BytesIO
from typing import TYPE_CHECKING
from zipfile import ZipFile

from footplate.server.reduction import find_wheel

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_the_same_files_make_the_same_wheel() -> None:
    first, second = find_wheel(), find_wheel()

    assert first is not None
    assert second is not None
    assert first.sha256 == second.sha256
    assert first.name.startswith("footplate_reduction-")


def test_installers_take_it(tmp_path: Path) -> None:
    """With uv, as replicas do; it checks the hashes of the record."""
    wheel = find_wheel()
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


def test_without_the_distribution_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("footplate.server.reduction._PACKAGE", "footplate_reduction_missing")

    assert find_wheel() is None
