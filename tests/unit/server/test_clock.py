"""The clock that remembers how it was set, also for the next server."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from footplate.server.clock import SystemClock

if TYPE_CHECKING:
    from pathlib import Path


@dataclass
class Machine:
    """``set_s`` is by how much somebody has set its clock."""

    up_s: float = 100.0
    set_s: float = 0.0
    boot: str = "first"

    def clock(self, file: Path | None) -> SystemClock:
        return SystemClock(
            file, lambda: 1e9 + self.up_s + self.set_s, lambda: self.up_s, lambda: self.boot
        )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "clock.json"


def test_a_jump_while_it_runs_is_no_time() -> None:
    machine = Machine()
    clock = machine.clock(None)
    before = clock.now()
    machine.up_s, machine.set_s = 130.0, 86_400.0
    now = clock.now()

    assert now - before == timedelta(days=1, seconds=30)
    assert clock.steady(now) - clock.steady(before) == timedelta(seconds=30)


def test_a_jump_while_no_server_runs_is_none_either(file: Path) -> None:
    machine = Machine()
    before = machine.clock(file).now()
    machine.up_s, machine.set_s = 130.0, 86_400.0
    later = machine.clock(file)

    assert later.steady(later.now()) - later.steady(before) == timedelta(seconds=30)


def test_nothing_is_known_after_another_start_of_the_machine(file: Path) -> None:
    machine = Machine()
    before = machine.clock(file).now()
    machine.up_s, machine.set_s, machine.boot = 5.0, 3600.0, "second"
    later = machine.clock(file)

    assert later.steady(later.now()) - later.steady(before) == timedelta(seconds=3505)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"boot": "first", "stretches": [[1]]}', "[" * 9999],
    ids=["empty", "list", "bare", "short", "deep"],
)
def test_a_spoilt_file_is_as_none(file: Path, text: str) -> None:
    file.write_text(text)
    clock = Machine().clock(file)

    assert clock.steady(clock.now()) == clock.now()


def test_a_file_that_can_not_be_written_keeps_no_server_from_its_work(tmp_path: Path) -> None:
    assert Machine().clock(tmp_path / "missing" / "clock.json").now().year == 2001


def test_a_clock_that_is_set_all_the_time_takes_no_more_and_more_room(file: Path) -> None:
    machine = Machine()
    clock = machine.clock(file)
    for _ in range(300):
        machine.set_s += 10.0
        clock.now()

    assert file.stat().st_size < 10_000
