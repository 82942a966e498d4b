from __future__ import annotations

import os
from pathlib import Path

import pytest

from footplate.replica.realpath import find_real


@pytest.mark.parametrize(
    "path",
    ["folder", "link", "link/file", "folder/../link/./file", "loop", "nowhere", "link/nowhere", ""],
)
def test_it_is_what_python_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").touch()
    (tmp_path / "link").symlink_to("folder")
    (tmp_path / "loop").symlink_to("loop")
    monkeypatch.chdir(tmp_path)

    assert find_real(path) == os.path.realpath(path)
    assert find_real(f"{tmp_path}/{path}") == os.path.realpath(f"{tmp_path}/{path}")


def test_a_name_that_looks_removed_is_a_name(tmp_path: Path) -> None:
    (tmp_path / "kept (deleted)").mkdir()

    assert find_real(str(tmp_path / "kept (deleted)")) == str(tmp_path / "kept (deleted)")
