"""The clock that remembers how it was set, also for the next server."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from footplate.control.elapsed_time import seconds_since
from footplate.server.clock import SystemClock

DAY_S = 86_400.0


@dataclass
class Machine:
    """``set_s`` is by how much somebody has set its clock."""

    up_s: float = 100.0
    set_s: float = 0.0
    boot: str = "first"
    pause_s: float = 0.0
    """For how long the process is held up between its next readings of both clocks."""

    def clock(self, file: Path | None) -> SystemClock:
        return SystemClock(file, self.wall, lambda: self.up_s, lambda: self.boot)

    def wall(self) -> float:
        shown = 1e9 + self.up_s + self.set_s
        self.up_s, self.pause_s = self.up_s + self.pause_s, 0.0
        return shown


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "clock.json"


def test_a_jump_while_it_runs_is_no_time() -> None:
    machine = Machine()
    clock = machine.clock(None)
    before = clock.now()
    machine.up_s, machine.set_s = 130.0, 86_400.0
    now = clock.now()

    assert (now - before).total_seconds() == pytest.approx(DAY_S + 30, abs=1e-3)
    assert seconds_since(before, now, clock) == pytest.approx(30, abs=1e-3)


def test_a_jump_while_no_server_runs_is_none_either(file: Path) -> None:
    machine = Machine()
    before = machine.clock(file).now()
    machine.up_s, machine.set_s = 130.0, 86_400.0
    later = machine.clock(file)

    assert seconds_since(before, later.now(), later) == pytest.approx(30, abs=1e-3)


def test_nothing_is_known_after_another_start_of_the_machine(file: Path) -> None:
    machine = Machine()
    before = machine.clock(file).now()
    machine.up_s, machine.set_s, machine.boot = 5.0, 3600.0, "second"
    later = machine.clock(file)

    now = later.now()
    assert later.steady(now) - later.steady(before) == now - before
    assert now.microsecond % 100 == before.microsecond % 100 + 1


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"boot": "first", "segments": [[1]]}', "[" * 9999],
    ids=["empty", "list", "bare", "short", "deep"],
)
def test_a_damaged_file_is_as_none(file: Path, text: str) -> None:
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


def test_a_file_that_could_not_be_written_is_written_later(tmp_path: Path) -> None:
    machine, folder = Machine(), tmp_path / "full"
    clock = machine.clock(folder / "clock.json")
    before = clock.now()
    machine.up_s, machine.set_s = 130.0, DAY_S
    clock.now()
    folder.mkdir()
    machine.up_s = 140.0
    clock.now()

    later = machine.clock(folder / "clock.json")
    assert seconds_since(before, later.now(), later) == pytest.approx(40, abs=1e-3)


STEPS = st.tuples(
    st.sampled_from(["pass", "set", "pause", "restart", "read"]),
    st.floats(-1e6, 1e6) | st.floats(-1, 1) | st.floats(-0.1, 0.1),
)


@example([("read", 0), ("set", DAY_S), ("read", 0), ("pass", 0.02), ("read", 0)])
@example([("pass", 5), ("set", -10), ("read", 0), ("pass", 20), ("read", 0)])
@example([("set", 0.09)] * 50)
@example([("pause", 30), ("read", 0)])
@given(st.lists(STEPS, max_size=15))
def test_the_time_between_two_moments_is_what_has_really_passed(
    steps: list[tuple[str, float]],
) -> None:
    """Whatever happens: a moment is known by its number, also to the next server."""
    with TemporaryDirectory() as folder:
        machine, file = Machine(), Path(folder, "clock.json")
        clock = machine.clock(file)
        moments = [(clock.now(), machine.up_s)]
        for step, seconds in steps:
            if step == "set":
                machine.set_s += seconds
            elif step == "restart":
                clock = machine.clock(file)
            elif step == "pause":
                machine.pause_s = abs(seconds)
            elif step == "pass":
                machine.up_s += abs(seconds)
            moments.append((clock.now(), machine.up_s))
            kept = [datetime.fromisoformat(moment.isoformat()) for moment, _ in moments]
            for moment, (_, up_s) in zip(kept, moments, strict=True):
                assert moment.tzinfo == UTC
                passed_s = seconds_since(moment, kept[-1], clock)
                assert abs(passed_s - (machine.up_s - up_s)) < 0.2
