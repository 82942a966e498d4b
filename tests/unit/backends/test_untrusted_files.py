import os
from pathlib import Path

import pytest

from footplate.backends.local import untrusted_files


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "file"


def test_a_regular_file_is_read_up_to_a_bound(file: Path) -> None:
    file.write_bytes(b"x" * (untrusted_files.MOST_BYTES + 1))
    assert untrusted_files.read(file) == b"x" * untrusted_files.MOST_BYTES


def test_nothing_else_is_read_nor_waited_for(file: Path, tmp_path: Path) -> None:
    assert untrusted_files.read(file) is None
    file.mkdir()
    assert untrusted_files.read(file) is None
    os.mkfifo(tmp_path / "pipe")
    assert untrusted_files.read(tmp_path / "pipe") is None
    (tmp_path / "target").write_text("secret")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    assert untrusted_files.read(tmp_path / "link") is None
    (tmp_path / "device").symlink_to("/dev/zero")
    assert untrusted_files.read(tmp_path / "device") is None


def test_nothing_is_appended_through_a_link_nor_to_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe"):
        with pytest.raises(OSError, match=name):
            untrusted_files.append_to(tmp_path / name)
    assert (tmp_path / "target").read_text() == "mine"


def test_a_link_to_nowhere_exists(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/nowhere")
    assert untrusted_files.exists(tmp_path / "link")


def test_a_lock_is_seen_while_it_is_held(file: Path) -> None:
    assert not untrusted_files.is_locked(file)
    assert not file.exists()
    lock = untrusted_files.take_lock(file)
    assert lock is not None
    assert untrusted_files.is_locked(file)
    assert untrusted_files.take_lock(file) is None
    os.close(lock)
    assert not untrusted_files.is_locked(file)


def test_asking_twice_at_once_is_no_lock(file: Path) -> None:
    lock = untrusted_files.take_lock(file)
    assert lock is not None
    os.close(lock)
    assert not any(untrusted_files.is_locked(file) for _ in range(100))


def test_what_is_no_file_is_no_lock(file: Path, tmp_path: Path) -> None:
    (tmp_path / "target").touch()
    file.symlink_to(tmp_path / "target")
    assert not untrusted_files.is_locked(file)
    with pytest.raises(OSError, match="file"):
        untrusted_files.take_lock(file)
