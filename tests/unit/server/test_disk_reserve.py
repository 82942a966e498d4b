"""The reserve: given back in steps to whoever fails on a full disk, and made again."""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from footplate.domain.disk_state import MIB
from footplate.domain.errors import Unavailable
from footplate.server.disk_reserve import DiskReserve
from tests.support.disks import SaidDisk

WHOLE = 3 * MIB


@pytest.fixture
def disk() -> SaidDisk:
    return SaidDisk()


@pytest.fixture
def reserve(tmp_path: Path, disk: SaidDisk) -> DiskReserve:
    return DiskReserve(tmp_path / "reserve", WHOLE, disk.look)


def fails_until(reserve: DiskReserve, kept_bytes: int, error: Exception) -> Callable[[], str]:
    """A write that finds room when only so much of the reserve is left."""

    def write() -> str:
        if reserve.path.stat().st_size > kept_bytes:
            raise error
        return "written"

    return write


def test_it_is_made_with_real_blocks(reserve: DiskReserve) -> None:
    reserve.maintain()
    assert reserve.path.stat().st_size == WHOLE
    assert reserve.path.stat().st_blocks * 512 >= WHOLE
    assert reserve.state().missing_bytes == 0


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), Unavailable("database is full")]
)
def test_what_fails_on_a_full_disk_is_done_again_with_a_step_each_time(
    reserve: DiskReserve, disk: SaidDisk, error: Exception
) -> None:
    reserve.maintain()
    disk.f_bavail = 0
    assert reserve.retrying(fails_until(reserve, WHOLE - 2 * MIB, error)) == "written"
    assert reserve.path.stat().st_size == WHOLE - 2 * MIB


def test_when_nothing_is_left_the_failure_is_told(reserve: DiskReserve, disk: SaidDisk) -> None:
    reserve.maintain()
    disk.f_bavail = 0
    with pytest.raises(Unavailable, match="database is full"):
        reserve.retrying(fails_until(reserve, -1, Unavailable("database is full")))
    assert reserve.path.stat().st_size == 0


def test_what_fails_with_room_on_the_disk_takes_nothing(reserve: DiskReserve) -> None:
    reserve.maintain()
    with pytest.raises(Unavailable, match="away"):
        reserve.retrying(fails_until(reserve, 0, Unavailable("the database is away")))
    assert reserve.path.stat().st_size == WHOLE


def test_it_is_made_whole_when_there_is_room_and_not_before(
    reserve: DiskReserve, disk: SaidDisk
) -> None:
    reserve.maintain()
    reserve.release()
    disk.f_bavail = 2 * MIB
    reserve.maintain()
    assert reserve.path.stat().st_size == WHOLE - MIB
    disk.f_bavail = 3 * MIB
    reserve.maintain()
    assert reserve.path.stat().st_size == WHOLE


def test_one_that_can_not_be_made_is_done_without(
    tmp_path: Path, disk: SaidDisk, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    reserve = DiskReserve(tmp_path / "reserve", WHOLE, disk.look, refuse)
    reserve.maintain()
    assert "no disk reserve: No space left on device; 100 MiB free" in caplog.text
    assert not reserve.release()
    reserve.check()


def test_a_disk_with_space_is_not_called_full_before_the_reserve_is_made(
    reserve: DiskReserve, disk: SaidDisk
) -> None:
    assert reserve.state().trouble() == ""
    disk.f_bavail = 3 * MIB
    assert (
        reserve.state().trouble()
        == "disk nearly full: 3 MiB free; 3 of the 3 MiB that the server reserves are in use"
    )


def test_one_that_was_copied_without_its_blocks_gets_them(reserve: DiskReserve) -> None:
    reserve.path.touch()
    os.truncate(reserve.path, WHOLE)
    assert reserve.state().missing_bytes > 0
    reserve.maintain()
    assert reserve.state().missing_bytes == 0
    assert reserve.path.stat().st_size == WHOLE


def test_a_file_system_that_allocates_nothing_is_reported(tmp_path: Path, disk: SaidDisk) -> None:
    reserve = DiskReserve(tmp_path / "reserve", WHOLE, disk.look, lambda *_: None)
    reserve.maintain()
    assert reserve.state().trouble() == (
        "no disk reserve: the file system allocates no blocks for the reserve; 100 MiB free"
    )


def test_a_full_disk_refuses_what_is_new(
    reserve: DiskReserve, disk: SaidDisk, tmp_path: Path
) -> None:
    reserve.maintain()
    reserve.check()
    disk.f_bavail = 0
    with pytest.raises(Unavailable) as caught:
        reserve.check()
    assert caught.value.message == (
        "disk full: 0 MiB free; the 3 MiB that the server reserves are untouched on the disk "
        f"of {tmp_path}: "
        "free some space there, and try again"
    )


def test_the_log_hears_of_each_turn_once(
    reserve: DiskReserve, disk: SaidDisk, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    for free in (100 * MIB, 100 * MIB, 0, 0, 100 * MIB, 100 * MIB):
        disk.f_bavail = free
        reserve.maintain()
    told = [record.getMessage().partition(" (")[0] for record in caplog.records]
    assert told[0] == "disk full: 0 MiB free; the 3 MiB that the server reserves are untouched"
    assert told[1].endswith("again")
    assert len(told) == 2


def test_no_reserve_is_wanted_where_none_is_set(tmp_path: Path, disk: SaidDisk) -> None:
    DiskReserve(tmp_path / "reserve", 0, disk.look).maintain()
    assert not (tmp_path / "reserve").exists()
