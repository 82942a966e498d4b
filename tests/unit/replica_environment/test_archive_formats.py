"""Packages under any name: what they are is in their content."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from footplate.replica.environment import archive_formats
from footplate.replica.environment.archive_formats import settle
from footplate.replica.environment.errors import PreparationError

METADATA = {
    "trainer/task.py": "print('hello')\n",
    "trainer-0.1.dist-info/METADATA": "Metadata-Version: 2.1\nName: trainer\nVersion: 0.1\n",
    "trainer-0.1.dist-info/WHEEL": "Wheel-Version: 1.0\nTag: py2.py3-none-any\n",
}


def make_tar() -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("trainer-0.1/setup.py"), io.BytesIO())
    return made.getvalue()


def make_zip(members: dict[str, str]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return made.getvalue()


def receive(folder: Path, content: bytes, name: str) -> Path:
    (folder / "download").write_bytes(content)
    path = Path(settle(str(folder / "download"), name))
    assert [each.name for each in folder.iterdir()] == [path.name]
    return path


@pytest.mark.parametrize(
    "name", ["t-0.1.tar.gz", "t.tar.bz2", "t.zip", "t.whl", "trainer", "t.egg2"]
)
@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress, bytes])
def test_a_tar_whatever_compresses_it(
    tmp_path: Path, name: str, compress: Callable[[bytes], bytes]
) -> None:
    path = receive(tmp_path, compress(make_tar()), name)

    assert path.name == "package.tar.gz"
    with tarfile.open(path, "r:gz") as archive:
        assert archive.getnames() == ["trainer-0.1/setup.py"]


@pytest.mark.parametrize("name", ["t.zip", "t.tar.gz", "t.whl", "trainer"])
def test_a_source_distribution_in_a_zip(tmp_path: Path, name: str) -> None:
    assert receive(tmp_path, make_zip({"trainer-0.1/setup.py": ""}), name).name == "package.zip"


def test_a_wheel_keeps_its_name(tmp_path: Path) -> None:
    name = "trainer-0.1-cp311-cp311-linux_x86_64.whl"

    assert receive(tmp_path, make_zip(METADATA), name).name == name


@pytest.mark.parametrize("name", ["trainer-0.1.zip", "trainer.tar.gz", "wheel"])
def test_a_wheel_under_another_name(tmp_path: Path, name: str) -> None:
    path = receive(tmp_path, make_zip(METADATA), name)

    assert path.name == "trainer-0.1-py2.py3-none-any.whl"


@pytest.mark.parametrize("name", ["trainer-0.1-py3.7.egg", "trainer-0.1.zip"])
def test_an_egg(tmp_path: Path, name: str) -> None:
    (tmp_path / "download").write_bytes(make_zip({"EGG-INFO/PKG-INFO": "Name: trainer\n"}))

    with pytest.raises(
        PreparationError, match=rf"^{name} is an egg, .* send a source distribution"
    ):
        settle(str(tmp_path / "download"), name)


def test_what_is_no_archive(tmp_path: Path) -> None:
    (tmp_path / "download").write_bytes(b"Rar!" * 100)

    with pytest.raises(PreparationError, match=r"t\.rar is not a package .*\.tar\.gz, .*\.tar\.xz"):
        settle(str(tmp_path / "download"), "t.rar")


def test_a_broken_archive_is_left_to_its_inspection(tmp_path: Path) -> None:
    assert receive(tmp_path, b"...", "t.tgz").name == "package.tgz"


def test_half_an_archive(tmp_path: Path) -> None:
    (tmp_path / "download").write_bytes(lzma.compress(make_tar())[:60])

    with pytest.raises(PreparationError, match=r"^t\.tar\.xz is broken: "):
        settle(str(tmp_path / "download"), "t.tar.xz")


def test_a_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_formats, "MAX_UNPACKED_BYTES", 1 << 20)
    (tmp_path / "download").write_bytes(bz2.compress(bytes(8 << 20)))

    with pytest.raises(PreparationError, match="larger than 1 MiB when unpacked"):
        settle(str(tmp_path / "download"), "t.tar.bz2")
