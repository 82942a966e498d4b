"""The supervisor's archive: one file, the same for the same sources."""

from __future__ import annotations

import ast
import sys
import zipfile
from pathlib import Path

from footplate.replica.supervisor_archive import build_archive

LATER = frozenset(
    (
        *("removeprefix", "removesuffix", "randbytes", "is_relative_to", "bit_count", "to_thread"),
        *("waitstatus_to_exitcode", "recv_fds", "send_fds", "pidfd_open", "pidfd_send_signal"),
        *("splice", "eventfd", "file_digest", "lcm", "unparse", "UTC"),
        *("TaskGroup", "timeout_at", "Runner", "pairwise", "batched", "aclosing", "StrEnum"),
    )
)
"""Attributes of the standard library's modules and types that Python 3.8 lacks."""
KNOWN = {
    # Only where they are there, and in processes of the server's own Python.
    "footplate/replica/isolation/procfs.py": {"pidfd_open", "pidfd_send_signal"},
    "footplate/replica/container/runner.py": {"pidfd_open"},
    "footplate/replica/fork_server.py": {"recv_fds"},
}


def find_later(source: bytes) -> set[str]:
    tree = ast.parse(source, feature_version=(3, 8))
    found = {
        (each.value.id if isinstance(each.value, ast.Name) else "", each.attr)
        for each in ast.walk(tree)
        if isinstance(each, ast.Attribute)
    }
    return {name for owner, name in found if name in LATER and owner != "self"}


def test_it_needs_nothing_that_python_3_8_lacks(tmp_path: Path) -> None:
    with zipfile.ZipFile(build_archive(tmp_path)) as archive:
        sources = {name: archive.read(name) for name in archive.namelist() if name[-3:] == ".py"}
    used = {name: find_later(source) for name, source in sources.items()}
    assert {name: found for name, found in used.items() if found} == KNOWN


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
        *("footplate/limited_http.py", "footplate/limited_http.pyc"),
        *("footplate/safe_path.py", "footplate/safe_path.pyc"),
    }
    assert "footplate/replica/supervisor_archive.py" not in names
    assert {f"{name}c" for name in sources} <= set(names)
    assert sys.implementation.cache_tag not in "".join(names)
