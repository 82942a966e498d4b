"""The supervisor's archive: one file, the same for the same sources."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

from footplate.replica.supervisor_archive import build_archive


def test_the_same_sources_make_the_same_file(tmp_path: Path) -> None:
    one, other = build_archive(tmp_path / "a"), build_archive(tmp_path / "b")
    assert one.name == other.name
    assert one.read_bytes() == other.read_bytes()


def test_an_archive_that_is_there_is_left_alone(tmp_path: Path) -> None:
    path = build_archive(tmp_path)
    before = path.stat()
    assert build_archive(tmp_path) == path
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_it_holds_the_supervisor_and_nothing_else_of_the_service(tmp_path: Path) -> None:
    with zipfile.ZipFile(build_archive(tmp_path)) as archive:
        names = archive.namelist()
    sources = [name for name in names if name.endswith(".py")]
    assert {"__main__.py", "footplate/__init__.py", "footplate/replica/run.py"} <= set(sources)
    folders = ("footplate/containers/", "footplate/protocol/", "footplate/replica/")
    inside = [name for name in names if name.startswith(folders)]
    assert set(names) - set(inside) == {
        *("__main__.py", "__main__.pyc", "footplate/__init__.py", "footplate/__init__.pyc"),
        *("footplate/domain/__init__.py", "footplate/domain/__init__.pyc"),
        *("footplate/domain/bucket_copying.py", "footplate/domain/bucket_copying.pyc"),
        *("footplate/domain/google_products.py", "footplate/domain/google_products.pyc"),
        *("footplate/domain/image_reference.py", "footplate/domain/image_reference.pyc"),
        *("footplate/http1.py", "footplate/http1.pyc"),
        *("footplate/safe_path.py", "footplate/safe_path.pyc"),
    }
    assert "footplate/replica/supervisor_archive.py" not in names
    assert {f"{name}c" for name in sources} <= set(names)
    assert sys.implementation.cache_tag not in "".join(names)
