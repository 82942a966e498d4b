import os
import socket
from pathlib import Path

import pytest

from footplate.backends.local.attempt_directories import DeletionQueue
from footplate.backends.local.directory_removal import empty
from tests.support.local_backend import wait_until

DEEP = 3000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    folder.mkdir()
    return folder


def test_everything_goes_and_the_folder_stays(folder: Path) -> None:
    (folder / "a" / "b" / "c").mkdir(parents=True)
    (folder / "a" / "b" / "c" / "file").write_text("x")
    (folder / "file").write_text("x")
    assert empty(folder) == ()
    assert list(folder.iterdir()) == []


def test_links_go_and_what_they_point_to_stays(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o755)
    (outside / "precious").write_text("x")
    (folder / "a").mkdir()
    for place in (folder, folder / "a"):
        (place / "directory").symlink_to(outside)
        (place / "file").symlink_to(outside / "precious")
        (place / "nowhere").symlink_to("/nowhere")
        (place / "up").symlink_to("..")
    mode = outside.stat().st_mode
    assert empty(folder) == ()
    assert list(folder.iterdir()) == []
    assert (outside / "precious").read_text() == "x"
    assert outside.stat().st_mode == mode


def test_a_hard_link_goes_and_the_file_stays(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("x")
    (folder / "link").hardlink_to(tmp_path / "precious")
    assert empty(folder) == ()
    assert (tmp_path / "precious").read_text() == "x"


def test_read_only_and_locked_directories_go(folder: Path) -> None:
    inner = folder / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "file").write_text("x")
    inner.chmod(0o000)
    (folder / "a").chmod(0o500)
    assert empty(folder) == ()


def test_pipes_sockets_and_odd_names_go(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "socket"))
    for name in (b"new\nline", b"\xff\xfe", b"-rf", b" ", b"x" * 255):
        (Path(os.fsdecode(os.fsencode(folder) + b"/" + name))).mkdir()
    assert empty(folder) == ()
    assert list(folder.iterdir()) == []


def test_a_tree_of_any_depth_goes(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    for _ in range(DEEP):
        os.mkdir("d", dir_fd=descriptor)
        inner = os.open("d", os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = inner
    os.close(descriptor)
    assert empty(folder) == ()
    assert list(folder.iterdir()) == []


def test_names_that_it_would_use_itself_are_in_nobodys_way(folder: Path) -> None:
    for number in range(3):
        (folder / f".{number}").mkdir()
        (folder / f".{number}" / "x").mkdir()
        (folder / "a" / f"{number}").mkdir(parents=True)
    (folder / ".3").write_text("a file")
    assert empty(folder) == ()
    assert list(folder.iterdir()) == []


def test_it_ends_when_it_is_told_to(folder: Path) -> None:
    (folder / "a").mkdir()
    assert empty(folder, lambda: True) == ()
    assert (folder / "a").is_dir()


def test_trash_takes_at_once_also_what_has_the_same_name(tmp_path: Path) -> None:
    deletion_queue = DeletionQueue(tmp_path / "trash")
    for _ in range(3):
        thing = tmp_path / "thing"
        thing.mkdir()
        (thing / "file").touch()
        deletion_queue.enqueue(thing)
        assert not thing.exists()
    assert len(list((tmp_path / "trash").iterdir())) == 3
    deletion_queue.open()
    wait_until(lambda: not list((tmp_path / "trash").iterdir()))
    deletion_queue.close()


def test_trash_passes_over_what_is_not_there(tmp_path: Path) -> None:
    DeletionQueue(tmp_path / "trash").enqueue(tmp_path / "nothing")
