"""Archives that nobody should unpack, and those that everybody sends."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from pathlib import Path, PurePath
from typing import IO

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from footplate.replica.environment import archive_inspection
from footplate.replica.environment.errors import PreparationError
from tests.support.profiles import scaled


def look(path: str, read: archive_inspection.Reader) -> None:
    archive_inspection.inspect(path, PurePath(path).name, read)


def ignore(name: str, stream: IO[bytes]) -> None:
    pass


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type = kind
    info.linkname = target
    return info


def make_tar(directory: Path, *members: tarfile.TarInfo, name: str = "p-1.tar.gz") -> str:
    path = directory / name
    with tarfile.open(path, "w:gz") as archive:
        for info in members:
            archive.addfile(info, io.BytesIO(bytes(info.size)))
    return str(path)


def make_zip(directory: Path, *members: tuple[str, int, str], name: str = "p-1.zip") -> str:
    path = directory / name
    with zipfile.ZipFile(path, "w") as archive:
        for member_name, mode, content in members:
            info = zipfile.ZipInfo(member_name)
            info.external_attr = mode << 16
            archive.writestr(info, content)
    return str(path)


GOOD = [
    member("p-1", tarfile.DIRTYPE),
    member("./p-1/setup.py"),
    member("p-1/a..b/..c"),
    member("p-1/current", tarfile.SYMTYPE, "a..b"),
    member("p-1/a..b/up", tarfile.SYMTYPE, "../setup.py"),
    member("p-1/same", tarfile.LNKTYPE, "p-1/setup.py"),
]
BAD = [
    ([member("../evil")], "'../evil' has '..' in its path"),
    ([member("p/../../evil")], "has '..' in its path"),
    ([member("/etc/passwd")], "'/etc/passwd' has an absolute path"),
    ([member("C:\\evil")], "has an absolute path"),
    ([member("p\\..\\..\\evil")], "has '..' in its path"),
    ([member("p/out", tarfile.SYMTYPE, "/etc")], "is a link to '/etc', outside"),
    ([member("p/out", tarfile.SYMTYPE, "../../x")], "is a link to 'p/../../x', outside"),
    ([member("out", tarfile.SYMTYPE, "..")], "is a link to '..', outside"),
    ([member("out", tarfile.LNKTYPE, "../../etc/passwd")], "outside of the archive"),
    ([member("p/out", tarfile.LNKTYPE, "/etc/passwd")], "is a link to '/etc/passwd', outside"),
    (
        [member("d", tarfile.SYMTYPE, "."), member("e", tarfile.SYMTYPE, "d/..")],
        "is a link to 'd/..', which leads through another link",
    ),
    ([member("d", tarfile.SYMTYPE, "."), member("d/evil")], "is in 'd', which is a link"),
    ([member("d/evil"), member("./d", tarfile.SYMTYPE, ".")], "is in 'd', which is a link"),
    ([member("p/disk", tarfile.BLKTYPE)], "is a device or a pipe"),
    ([member("p/tty", tarfile.CHRTYPE)], "is a device or a pipe"),
    ([member("p/pipe", tarfile.FIFOTYPE)], "is a device or a pipe"),
    ([member("p/" + "n" * 5000)], "has a name of more than 4096 characters"),
]


def test_accepts_what_is_packed_every_day(tmp_path: Path) -> None:
    seen: list[str] = []
    look(make_tar(tmp_path, *GOOD), lambda name, stream: seen.append(name))
    assert seen == ["./p-1/setup.py", "p-1/a..b/..c"]


@pytest.mark.parametrize(("members", "words"), BAD)
def test_refuses_members_of_a_tar(
    tmp_path: Path, members: list[tarfile.TarInfo], words: str
) -> None:
    with pytest.raises(
        PreparationError, match=r"^the package p-1\.tar\.gz is refused: its "
    ) as raised:
        look(make_tar(tmp_path, *members), ignore)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ([("../evil", 0, "")], "'../evil' has '..' in its path"),
        ([("/etc/passwd", 0, "")], "has an absolute path"),
        ([("p/out", 0o120777, "/etc")], "is a link to '/etc', outside"),
        ([("p/out", 0o120777, "../../x")], "is a link to 'p/../../x', outside"),
        ([("d", 0o120777, "."), ("d/evil", 0, "")], "is in 'd', which is a link"),
        ([("p/disk", 0o060644, "")], "is a device or a pipe"),
    ],
)
@pytest.mark.parametrize("name", ["p-1.zip", "p-1-py3-none-any.whl"])
def test_refuses_members_of_a_zip(
    tmp_path: Path, members: list[tuple[str, int, str]], words: str, name: str
) -> None:
    with pytest.raises(
        PreparationError, match=r"^the package p-1\S+ is refused: its member"
    ) as raised:
        look(make_zip(tmp_path, *members, name=name), ignore)
    assert words in str(raised.value)


def test_shows_text_of_a_zip(tmp_path: Path) -> None:
    seen = []
    path = make_zip(tmp_path, ("p/", 0, ""), ("p/a.py", 0o100644, "import b"))
    look(path, lambda name, stream: seen.append((name, stream.read())))
    assert seen == [("p/a.py", b"import b")]


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_inspection, "MAX_UNPACKED_BYTES", 1 << 20)
    monkeypatch.setattr(archive_inspection, "MAX_MEMBERS", 10)


@pytest.mark.usefixtures("small_limits")
def test_refuses_bombs(tmp_path: Path) -> None:
    large = member("p/zeros")
    large.size = 2 << 20
    with pytest.raises(
        PreparationError, match="'p/zeros' makes the package larger than 1 MiB when unpacked"
    ):
        look(make_tar(tmp_path, large), ignore)
    with pytest.raises(PreparationError, match="larger than 1 MiB when unpacked"):
        look(make_zip(tmp_path, ("p/zeros", 0, "0" * (2 << 20))), ignore)
    tail = tmp_path / "tail.tar.gz"
    tail.write_bytes(gzip.compress(bytes(4 << 20)))
    with pytest.raises(PreparationError, match="larger than 1 MiB when unpacked"):
        look(str(tail), ignore)


@pytest.mark.usefixtures("small_limits")
def test_refuses_too_many_members(tmp_path: Path) -> None:
    many = [member(f"p/{number}") for number in range(11)]
    with pytest.raises(PreparationError, match="more than 10 members"):
        look(make_tar(tmp_path, *many), ignore)
    with pytest.raises(PreparationError, match="more than 10 members"):
        look(make_zip(tmp_path, *((f"p/{n}", 0, "") for n in range(11))), ignore)


def test_refuses_a_zip_that_lies_about_its_size(tmp_path: Path) -> None:
    """One file's bytes, listed as if they were fewer."""
    path = tmp_path / "p-1.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("p/a", "0" * 100_000)
    sizes = (100_000).to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(sizes, (10).to_bytes(4, "little")))
    with pytest.raises(PreparationError, match="broken, or not an archive"):
        look(str(path), ignore)


def test_refuses_headers_that_would_fill_the_memory(tmp_path: Path) -> None:
    header = member("p", tarfile.XHDTYPE)
    header.size = 2 << 30
    (tmp_path / "p.tar.gz").write_bytes(gzip.compress(header.tobuf(tarfile.PAX_FORMAT)))
    with pytest.raises(PreparationError, match="a header of 2147483648 bytes"):
        look(str(tmp_path / "p.tar.gz"), ignore)


@pytest.mark.parametrize("name", ["p.tar.gz", "p.tgz", "p.zip", "p.whl"])
def test_refuses_what_is_no_archive(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"not an archive" * 100)
    with pytest.raises(PreparationError, match=f"^the package {name} is broken, or not an"):
        look(str(tmp_path / name), ignore)


def test_refuses_other_kinds(tmp_path: Path) -> None:
    with pytest.raises(PreparationError, match=r"p\.egg is not a package .*\.tar\.gz, \.tgz"):
        look(str(tmp_path / "p.egg"), ignore)


def test_refuses_half_an_archive(tmp_path: Path) -> None:
    large = member("p/noise")
    large.size = 1 << 20
    path = tmp_path / make_tar(tmp_path, large)
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(PreparationError, match="broken"):
        look(str(path), ignore)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=scaled(200))
@given(data=st.data())
def test_damage_is_refused_or_harmless(tmp_path: Path, data: st.DataObject) -> None:
    """Nothing but Unpreparable comes out, whatever byte is changed."""
    for path in (
        make_tar(tmp_path, *GOOD),
        make_zip(tmp_path, ("p/a.py", 0o100644, "a"), ("p/b", 0o120777, "a.py")),
    ):
        with open(path, "r+b") as file:
            content = bytearray(file.read())
            position = data.draw(st.integers(0, len(content) - 1))
            content[position] = data.draw(st.integers(0, 255))
            file.seek(0)
            file.write(content)
        try:
            look(path, ignore)
        except PreparationError as refusal:
            assert "p-1" in str(refusal)  # noqa: PT017
