"""The administrator's fence command: only its success counts, and nothing waits for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate.backends.engine.fence_command import LIMIT_S, MAX_AT_ONCE, RETRY_S, FenceCommand
from tests.support.fence import fenced_nodes, make_fence
from tests.support.local_backend import wait_until


class Clock:
    now_s = 1000.0


class Desk:
    def __init__(self, folder: Path, *lines: str) -> None:
        self.folder, self.clock = folder, Clock()
        self.fence = FenceCommand(make_fence(folder, *lines), lambda: self.clock.now_s)

    def run(self, node: str = "n1") -> None:
        """Until it has ended."""
        before = len(fenced_nodes(self.folder))
        self.fence.start(node)
        wait_until(lambda: len(fenced_nodes(self.folder)) > before)
        wait_until(self.is_idle)

    def is_idle(self) -> bool:
        self.fence.collect()
        return not self.fence.is_running


@pytest.fixture
def desks() -> Iterator[list[Desk]]:
    desks: list[Desk] = []
    yield desks
    for desk in desks:
        desk.fence.close()


def is_alive(pid: int) -> bool:
    """Whether it is there, and no zombie, which may stay for a while."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_success_counts_for_those_who_were_silent_before_it(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.run()
    desk.clock.now_s += 10
    assert desk.fence.fenced_after("n1", silent_s=50.0)
    assert not desk.fence.fenced_after("n1", silent_s=5.0), "it has called since"
    assert not desk.fence.fenced_after("n2", silent_s=50.0)


def test_failure_proves_nothing_and_is_tried_again_later(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "echo it has no power switch >&2; exit 3")
    desk.run()
    assert not desk.fence.fenced_after("n1", silent_s=50.0)
    desk.fence.start("n1")
    assert not desk.fence.is_running
    desk.clock.now_s += RETRY_S
    desk.run()
    assert fenced_nodes(tmp_path) == ["n1", "n1"]


def test_what_hangs_is_killed_with_all_that_it_started(tmp_path: Path, desks: list[Desk]) -> None:
    pid_file = tmp_path / "pid"
    desk = Desk(
        tmp_path, f"sleep 600 & echo $! > {pid_file}.part", f"mv {pid_file}.part {pid_file}; wait"
    )
    desks.append(desk)
    desk.fence.start("n1")
    wait_until(pid_file.exists)
    pid = int(pid_file.read_text())
    desk.clock.now_s += LIMIT_S - 1
    assert not desk.is_idle()
    assert not desk.fence.fenced_after("n1", silent_s=500.0)
    desk.clock.now_s += 1
    assert desk.is_idle()
    wait_until(lambda: not is_alive(pid))
    assert not desk.fence.fenced_after("n1", silent_s=500.0)


def test_what_can_not_be_killed_holds_nobody_up(
    tmp_path: Path, desks: list[Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(tmp_path, "exec sleep 600")
    desks.append(desk)

    def refuse(pid: int, _number: int) -> None:
        raise PermissionError(1, "Operation not permitted", str(pid))

    with monkeypatch.context() as patch:
        patch.setattr("os.killpg", refuse)  # as for what sudo runs
        desk.fence.start("n1")
        wait_until(lambda: fenced_nodes(tmp_path) == ["n1"])
        desk.clock.now_s += LIMIT_S
        assert desk.is_idle()
        assert not desk.fence.fenced_after("n1", silent_s=500.0)
        desk.clock.now_s += RETRY_S
        desk.fence.start("n1")
        assert desk.is_idle(), "no second one runs beside it"
    desk.fence.start("n2")
    assert desk.fence.is_running


def test_what_runs_is_killed_with_the_server(tmp_path: Path) -> None:
    desk = Desk(tmp_path, f"echo $$ > {tmp_path}/pid; exec sleep 600")
    desk.fence.start("n1")
    wait_until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text() != "")
    desk.fence.close()
    pid = int((tmp_path / "pid").read_text())
    wait_until(lambda: not is_alive(pid))


@pytest.mark.parametrize("name", ["--all", "", "n1 n2", "$(reboot)", "../n1", "n1\n"])
def test_a_name_that_is_none_of_a_node_is_given_to_no_program(tmp_path: Path, name: str) -> None:
    desk = Desk(tmp_path)
    desk.fence.start(name)
    assert not desk.fence.is_running
    assert fenced_nodes(tmp_path) == []


def test_a_program_that_is_not_there_proves_nothing(tmp_path: Path) -> None:
    fence = FenceCommand((str(tmp_path / "nothing"),), lambda: 0.0)
    fence.start("n1")
    fence.collect()
    assert not fence.fenced_after("n1", silent_s=50.0)


def test_only_some_run_at_once(tmp_path: Path, desks: list[Desk]) -> None:
    desk = Desk(tmp_path, "exec sleep 600")
    desks.append(desk)
    for number in range(MAX_AT_ONCE + 1):
        desk.fence.start(f"n{number}")
    wait_until(lambda: len(fenced_nodes(tmp_path)) == MAX_AT_ONCE)
