"""What an ended program leaves on a full disk."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from footplate.replica.disk_space import MIN_BYTES, MIN_FILES, make_room
from footplate.replica.workdir import Home


@dataclass(frozen=True)
class Disk:
    f_bavail: int = MIN_BYTES
    f_frsize: int = 1
    f_files: int = 1 << 20
    f_favail: int = MIN_FILES

    def look(self, _path: str) -> Any:
        return self


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    made.make_directories()
    for name in ("tmp/a/b", "work/deep/er"):
        (tmp_path / "home" / name).mkdir(parents=True)
        (tmp_path / "home" / name / "file").write_text("much")
    (tmp_path / "home" / "task.json").write_text("{}")
    return made


def left(home: Home) -> set[str]:
    return {name for name in os.listdir(home.path) if name in ("tmp", "work", "task.json")}  # noqa: PTH208


def test_with_room_nothing_goes(home: Home) -> None:
    assert not make_room(home, Disk().look)
    assert left(home) == {"tmp", "work", "task.json"}


@pytest.mark.parametrize(
    "disk", [Disk(f_bavail=MIN_BYTES - 1), Disk(f_favail=0), Disk(f_bavail=0, f_files=0)]
)
def test_on_a_full_disk_what_was_the_programs_own_goes(home: Home, disk: Disk) -> None:
    assert make_room(home, disk.look)
    assert left(home) == {"task.json"}


def test_a_file_system_that_counts_no_files_may_have_room(home: Home) -> None:
    assert not make_room(home, Disk(f_files=0, f_favail=0).look)


def test_no_link_leads_out(home: Home, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "kept").touch()
    (tmp_path / "home" / "work" / "link").symlink_to(other)
    os.rename(home.tmp, tmp_path / "home" / "gone-tmp")  # noqa: PTH104
    os.symlink(other, home.tmp)  # noqa: PTH211
    make_room(home, Disk(f_bavail=0).look)
    assert (other / "kept").exists()


def test_a_home_that_is_gone_is_no_error(tmp_path: Path) -> None:
    assert not make_room(Home(str(tmp_path / "nowhere")))
