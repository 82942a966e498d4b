"""What is done for a disk, and said of it."""

from __future__ import annotations

from pathlib import Path

from footplate.domain.disk_state import MIB
from footplate.server.context import Disk
from footplate.server.disk_reserve import INTERVAL_S, DiskReserve
from tests.support.disks import SaidDisk


def test_room_is_kept_in_the_database_and_beside_it(tmp_path: Path) -> None:
    kept: list[str] = []
    reserve = DiskReserve(tmp_path / "reserve", MIB, SaidDisk().look)
    disk = Disk(reserve, lambda: kept.append("in the database"))
    assert disk.maintain() == INTERVAL_S
    assert kept == ["in the database"]
    assert reserve.path.stat().st_size == MIB


def test_a_full_one_is_told_and_a_good_one_is_not_talked_about(tmp_path: Path) -> None:
    found = SaidDisk()
    disk = Disk(DiskReserve(tmp_path / "reserve", 0, found.look), lambda: None)
    assert (disk.trouble(), disk.probe()) == ("", {})
    found.f_bavail = 0
    assert (
        disk.trouble() == "disk full: 0 MiB free; the server has reserved no space for an emergency"
    )
    assert disk.probe() == {"trouble": disk.trouble()}
