"""Packages are read as text: wheels, source distributions, and what nobody should unpack."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from footplate.server import package_sources
from footplate.server.package_sources import PackageSources, read_sources
from tests.support.trainers import pack, pack_trainer


def read(content: bytes) -> dict[str, str]:
    return read_sources(io.BytesIO(content))


def pack_zip(members: Mapping[str, str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return file.getvalue()


def test_a_source_distribution() -> None:
    """Its one folder isn't part of the names."""
    texts = read(pack_trainer("print()", "setup()"))
    assert texts == {"setup.py": "setup()", "trainer/__init__.py": "", "trainer/task.py": "print()"}


def test_a_wheel() -> None:
    texts = {
        "trainer/task.py": "print()",
        "trainer/data.csv": "1,2",
        "trainer/tests/case.py": "",
        "trainer/test_task.py": "",
        "trainer-0.1.dist-info/METADATA": "Requires-Dist: x",
    }
    assert read(pack_zip(texts)) == {
        "trainer/task.py": "print()",
        "METADATA": "Requires-Dist: x",
    }


def hostile_tar() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        info = tarfile.TarInfo("t-1/a.py")
        info.size = 1
        archive.addfile(info, io.BytesIO(b"a"))
        link = tarfile.TarInfo("t-1/b.py")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return file.getvalue()


@pytest.mark.parametrize(
    "content",
    [b"", b"plain", b"\x1f\x8b", b"PK\x03\x04", pack_trainer("x")[:100]],
    ids=["empty", "plain", "gzip", "zip", "cut off"],
)
def test_what_is_no_archive_has_no_sources(content: bytes) -> None:
    assert read(content) == {}


def test_what_is_hostile_is_read_as_far_as_it_is_not() -> None:
    zeros = "0" * (package_sources.MAX_UNPACKED_BYTES + 1)
    assert list(read(hostile_tar())) == ["a.py"]
    assert list(read(pack({"t-1/a.py": "a", "../b.py": "b", "c.py": "c"}))) == ["a.py"]
    assert list(read(pack({"/etc/a.py": "a"}))) == []
    assert list(read(pack({"t-1/a.py": "a", "zeros": zeros, "b.py": "b"}))) == ["a.py"]
    assert list(read(pack_zip({"a.py": "a", "zeros": zeros, "b.py": "b"}))) == ["a.py"]


def test_large_packages_and_files_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    large = "#" * (package_sources.MAX_SOURCE_BYTES + 1)
    assert list(read(pack({"a.py": large, "b.py": large[1:]}))) == ["b.py"]
    monkeypatch.setattr(package_sources, "MAX_SOURCES_BYTES", 3)
    assert list(read(pack({"a.py": "aa", "b.py": "bb", "c.py": "c"}))) == ["a.py", "c.py"]
    monkeypatch.setattr(package_sources, "MAX_ARCHIVE_BYTES", 30)
    assert read(pack_trainer("x")) == {}


def test_files_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "trainer").mkdir()
    (tmp_path / "trainer" / "task.py").write_bytes(b"caf\xe9")
    gone = tmp_path / "gone.py"
    sources = PackageSources()
    sources.read_files(tmp_path, [gone, tmp_path / "trainer", tmp_path / "trainer" / "task.py"])
    assert sources.texts == {"trainer/task.py": "caf\N{REPLACEMENT CHARACTER}"}
