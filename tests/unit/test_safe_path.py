"""No link leads an opening anywhere, wherever it lies and whenever it is made."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate import safe_path

PARTS = ("a", "b", "c")
ROUNDS = 3000
AT_FDCWD, RENAME_EXCHANGE = -100, 2


@pytest.fixture
def top(tmp_path: Path) -> Path:
    (tmp_path / "top" / "a" / "b" / "c").mkdir(parents=True)
    (tmp_path / "top" / "a" / "b" / "c" / "file").write_text("own")
    return tmp_path / "top"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """It has all that ``top`` has, so that any link to it would do."""
    (tmp_path / "outside" / "a" / "b" / "c").mkdir(parents=True)
    (tmp_path / "outside" / "a" / "b" / "c" / "file").write_text("secret")
    return tmp_path / "outside"


def read(descriptor: int) -> str:
    with os.fdopen(descriptor) as file:
        return file.read()


@pytest.mark.parametrize("flags", [safe_path.DIRECTORY, safe_path.PLACE])
def test_a_directory_is_opened_where_it_lies(top: Path, flags: int) -> None:
    with safe_path.directory(top, PARTS, flags=flags) as opened:
        assert os.path.samestat(os.fstat(opened), (top / "a/b/c").stat())
    with safe_path.directory(top, flags=flags) as opened:
        assert os.path.samestat(os.fstat(opened), top.stat())
    with pytest.raises(FileNotFoundError):
        safe_path.open_directory(top, ("a", "none"), flags=flags)
    with pytest.raises(NotADirectoryError):
        safe_path.open_directory(top, (*PARTS, "file"), flags=flags)


@pytest.mark.parametrize("durable", [False, True])
def test_what_is_not_there_is_made(top: Path, *, durable: bool) -> None:
    with safe_path.directory(top, ("a", "new", "x"), create=True, durable=durable) as opened:
        assert os.path.samestat(os.fstat(opened), (top / "a/new/x").stat())


@pytest.mark.parametrize("depth", range(3))
@pytest.mark.parametrize("target", ["absolute", "relative", "inside", "nowhere"])
def test_a_link_is_refused_at_each_part(top: Path, outside: Path, depth: int, target: str) -> None:
    link = top.joinpath(*PARTS[: depth + 1])
    link.rename(top / "aside")
    end = outside.joinpath(*PARTS[: depth + 1])
    targets: dict[str, Path | str] = {
        "absolute": end,
        "relative": os.path.relpath(end, link.parent),
        "inside": top / "aside",
        "nowhere": "/nowhere",
    }
    link.symlink_to(targets[target])
    for create in (False, True):
        for parts in (PARTS, (*PARTS, "new")):
            with pytest.raises(NotADirectoryError):
                safe_path.open_directory(top, parts, create=create)
    with pytest.raises(NotADirectoryError):
        safe_path.open_file(top, (*PARTS, "file"))
    with pytest.raises(NotADirectoryError):
        list(safe_path.scan(str(top.joinpath(*PARTS))))
    assert [path.name for path in (outside / "a/b/c").iterdir()] == ["file"]


@pytest.mark.parametrize("part", ["", ".", "..", "../outside"])
def test_a_part_is_a_name(top: Path, outside: Path, part: str) -> None:
    assert outside.is_dir()
    with pytest.raises(OSError, match=r"names no directory|No such file"):
        safe_path.open_directory(top, ("a", part))


def test_a_link_as_the_last_part_of_a_file_is_followed_inside(top: Path, outside: Path) -> None:
    (top / "a" / "latest").symlink_to("b/c/file")
    (top / "leak").symlink_to(outside / "a/b/c/file")
    (top / "chain").symlink_to("leak")
    assert read(safe_path.open_file(top, ("a", "latest"))) == "own"
    for name in ("leak", "chain"):
        with pytest.raises(FileNotFoundError):
            safe_path.open_file(top, (name,))


@pytest.mark.parametrize("kind", ["link", "pipe", "directory", "nothing"])
@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_RDWR, os.O_WRONLY | os.O_CREAT])
def test_only_a_regular_file_is_opened(tmp_path: Path, kind: str, flags: int) -> None:
    path = tmp_path / "it"
    (tmp_path / "target").write_text("kept")
    if kind == "link":
        path.symlink_to("target")
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    elif flags & os.O_CREAT:
        return
    with pytest.raises(FileNotFoundError):
        safe_path.open_regular(path, flags)
    assert (tmp_path / "target").read_text() == "kept"


def test_links_are_followed_in_roots_only(tmp_path: Path) -> None:
    (tmp_path / "disk" / "inner").mkdir(parents=True)
    (tmp_path / "root").symlink_to("disk")
    (tmp_path / "disk" / "link").symlink_to("/etc")
    roots = [str(tmp_path), str(tmp_path / "root"), str(tmp_path / "other")]
    found = {path: safe_path.resolve(f"{tmp_path}/{path}", roots) for path in ("root/link/x", "d")}
    assert found == {"root/link/x": f"{tmp_path}/disk/link/x", "d": f"{tmp_path}/d"}
    assert safe_path.resolve(f"{tmp_path}/root/inner/../link/", roots) == f"{tmp_path}/disk/link"
    assert safe_path.resolve(f"{tmp_path}/root2", roots[1:]) == f"{tmp_path}/root2"
    assert safe_path.resolve("//root/x", []) == "/root/x"


@pytest.fixture
def swapped(top: Path, outside: Path) -> Iterator[None]:
    """A program puts a link in the place of ``a/b``, and the directory again, all the time."""
    try:
        exchange = ctypes.CDLL(None).renameat2
    except AttributeError:
        pytest.skip("this C library can't exchange two names")
    place, link, ended = top / "a" / "b", top / "a" / "link", threading.Event()
    link.symlink_to(outside / "a" / "b")

    def swap() -> None:
        while not ended.is_set():
            exchange(AT_FDCWD, bytes(place), AT_FDCWD, bytes(link), RENAME_EXCHANGE)

    thread = threading.Thread(target=swap)
    thread.start()
    yield
    ended.set()
    thread.join()


@pytest.mark.usefixtures("swapped")
def test_a_directory_that_becomes_a_link_meanwhile(top: Path, outside: Path) -> None:
    read_files, refused = set(), 0
    for _ in range(ROUNDS):
        try:
            read_files.add(read(safe_path.open_file(top, (*PARTS, "file"))))
            os.close(safe_path.open_directory(top, (*PARTS, "new"), create=True))
        except NotADirectoryError:
            refused += 1
    assert read_files == {"own"}
    assert refused
    assert [path.name for path in (outside / "a/b/c").iterdir()] == ["file"]


@pytest.mark.usefixtures("outside")
def test_no_descriptor_is_left_open(top: Path) -> None:
    open_files = Path("/dev/fd")
    before = len(list(open_files.iterdir()))
    for parts in (("a", "none"), (*PARTS, "file"), ("..",)):
        with pytest.raises(OSError, match=r".+"):
            safe_path.open_directory(top, parts)
    with safe_path.directory(top, PARTS):
        pass
    with pytest.raises(FileNotFoundError):
        safe_path.open_regular(top)
    assert len(list(open_files.iterdir())) == before
