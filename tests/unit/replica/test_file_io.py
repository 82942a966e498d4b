from __future__ import annotations

import os
from pathlib import Path

import pytest

from footplate.replica.file_io import read_text, write_text


def test_it_is_read_whole_however_long(tmp_path: Path) -> None:
    (tmp_path / "long").write_text("é\n" * 100_000, encoding="utf-8")

    assert read_text(str(tmp_path / "long")) == "é\n" * 100_000


def test_bytes_that_are_no_text_come_through(tmp_path: Path) -> None:
    (tmp_path / "odd").write_bytes(b"\xff/group\n")

    assert os.fsencode(read_text(str(tmp_path / "odd"))) == b"\xff/group\n"


def test_what_the_kernel_says_is_read() -> None:
    assert read_text("/proc/self/cgroup") == Path("/proc/self/cgroup").read_text(encoding="utf-8")


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_text(str(tmp_path / "none"))


def test_it_is_written_whole(tmp_path: Path) -> None:
    (tmp_path / "there").touch()
    write_text(str(tmp_path / "there"), "é\n" * 100_000)
    assert (tmp_path / "there").read_text(encoding="utf-8") == "é\n" * 100_000


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("kept", encoding="utf-8")
    (tmp_path / "link").symlink_to("kept")

    with pytest.raises(OSError, match="link"):
        write_text(str(tmp_path / "link"), "new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)

    assert (tmp_path / "kept").read_text(encoding="utf-8") == "kept"
