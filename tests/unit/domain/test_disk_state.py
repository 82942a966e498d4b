"""What is said of a disk."""

from __future__ import annotations

import pytest

from footplate.domain.disk_state import FULL_BYTES, MIB, DiskState


def test_a_disk_with_room_and_a_whole_reserve_is_no_trouble() -> None:
    assert DiskState(FULL_BYTES, 8 * MIB, 8 * MIB).trouble() == ""
    assert DiskState(FULL_BYTES).trouble() == ""


@pytest.mark.parametrize(
    ("state", "told"),
    [
        (
            DiskState(0, 8 * MIB, 8 * MIB),
            "disk full: 0 MiB free; the 8 MiB that the server reserves are untouched",
        ),
        (
            DiskState(FULL_BYTES // 2, 3 * MIB, 8 * MIB),
            "disk full: 0.5 MiB free; 5 of the 8 MiB that the server reserves are in use",
        ),
        (
            DiskState(3 * MIB, 0, 8 * MIB),
            "disk nearly full: 3 MiB free; 8 of the 8 MiB that the server reserves are in use",
        ),
        (DiskState(0), "disk full: 0 MiB free; the server has reserved no space for an emergency"),
        (DiskState(21538 * MIB, 0, 8 * MIB), ""),
        (
            DiskState(21538 * MIB, 0, 8 * MIB, "Operation not permitted"),
            "no disk reserve: Operation not permitted; 21538 MiB free",
        ),
    ],
)
def test_trouble_names_what_is_free_and_what_the_reserve_has(state: DiskState, told: str) -> None:
    assert state.trouble() == told


def test_the_reserve_grows_only_where_that_does_not_fill_the_disk() -> None:
    assert DiskState(7 * MIB, 3 * MIB, 8 * MIB).growable
    assert not DiskState(7 * MIB - 1, 3 * MIB, 8 * MIB).growable
    assert not DiskState(100 * MIB, 8 * MIB, 8 * MIB).growable
