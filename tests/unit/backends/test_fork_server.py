"""Supervisors that are forked are like those that are spawned, whatever dies."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from footplate.backends.local.fork_server import COMMAND, ROOM, ForkServer, ForkUncertain
from footplate.domain.names import AttemptId
from footplate.ports.backend import Presence
from tests.support.backend_rig import WORKERS, all_are, make_request
from tests.support.local_backend import LocalRig, find_processes, wait_until
from tests.support.supervisor_process import find_living

CHIEF = WORKERS[0]
GANG = WORKERS[:2]


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[LocalRig]:
    rig = LocalRig(tmp_path, fork_server=True)
    yield rig
    rig.close()


def start_live(rig: LocalRig, attempt_id: str = "u-1") -> None:
    request = make_request(attempt_id, GANG)
    rig.backend.start(request)
    rig.settle(lambda: all_are(rig.backend, request, Presence.LIVE))
    rig.settle(lambda: rig.pid(attempt_id, CHIEF) > 0)


def words(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/cmdline").read_text().rstrip("\0").split("\0")


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def fork_server_pid(rig: LocalRig) -> int:
    """What is found may have ended by the time that it is looked at; the fork server hasn't."""
    found = []
    for pid in find_processes(rig.archive):
        with suppress(FileNotFoundError, ProcessLookupError):
            if words(pid)[-2:-1] == [COMMAND] and parent(pid) == os.getpid():
                found.append(pid)
    (pid,) = found
    return pid


def test_they_are_forked_and_look_as_if_they_had_been_spawned(rig: LocalRig) -> None:
    start_live(rig)
    pid, home = rig.pid("u-1", CHIEF), rig.home("u-1", CHIEF)
    assert parent(pid) == fork_server_pid(rig)
    assert words(pid)[1:] == ["-I", "-S", str(rig.archive), "run", str(home)]
    assert os.getsid(pid) == pid
    assert Path(f"/proc/{pid}/cwd").readlink() == Path("/")
    open_files = {str(entry.readlink()) for entry in Path(f"/proc/{pid}/fd").iterdir()}
    names = ("supervisor.log", "spawn", "lock")
    assert open_files == {"/dev/null", *(str(home / name) for name in names)}


def test_the_fork_server_keeps_nothing_of_them(rig: LocalRig) -> None:
    start_live(rig)
    entries = Path(f"/proc/{fork_server_pid(rig)}/fd").iterdir()
    open_files = {str(entry.readlink()).partition(":")[0] for entry in entries}
    assert open_files == {"/dev/null", "socket"}


def test_no_zombie_is_left(rig: LocalRig) -> None:
    start_live(rig)
    pid = rig.pid("u-1", CHIEF)
    rig.kill(AttemptId("u-1"), CHIEF)
    rig.settle(lambda: not Path(f"/proc/{pid}").exists())


def test_it_dies_with_its_backend_and_its_supervisors_go_on(rig: LocalRig) -> None:
    start_live(rig)
    fork_server = fork_server_pid(rig)
    rig.backend.close()
    assert not Path(f"/proc/{fork_server}").exists()
    rig.reopen()
    rig.backend.watch(lambda _: None)
    assert all_are(rig.backend, make_request("u-1", GANG), Presence.LIVE)
    rig.finish(AttemptId("u-1"), CHIEF)
    rig.settle(lambda: rig.backend.list()[0].presence is Presence.GONE)


def test_killed_it_takes_nobody_with_it_and_is_done_without(rig: LocalRig) -> None:
    start_live(rig)
    os.kill(fork_server_pid(rig), signal.SIGKILL)
    start_live(rig, "u-2")
    assert all_are(rig.backend, make_request("u-1", GANG), Presence.LIVE)
    assert parent(rig.pid("u-2", CHIEF)) == os.getpid()
    assert rig.runs(AttemptId("u-2")) == len(GANG)


def test_one_that_is_stopped_is_done_without_and_forks_nothing_later(
    rig: LocalRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody can tell a request that it hasn't seen from one that it is about to fulfil."""
    monkeypatch.setattr("footplate.backends.local.fork_server.TIMEOUT_S", 0.05)
    rig.reopen()
    fork_server = fork_server_pid(rig)
    os.kill(fork_server, signal.SIGSTOP)
    start_live(rig)
    assert not Path(f"/proc/{fork_server}").exists()
    assert rig.runs(AttemptId("u-1")) == len(GANG)
    assert len(find_processes(rig.home("u-1", CHIEF))) == 1


def test_a_fork_that_nobody_heard_of_is_found_by_its_lock(
    rig: LocalRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was forked, and its fork server killed before it could say so."""
    fork = rig.fork_server.fork if rig.fork_server is not None else None
    asked = []

    def lose_answer(home: Path, lock: int, output: int) -> int | None:
        asked.append(home)
        assert fork is not None
        assert fork(home, lock, output) is not None
        raise ForkUncertain("nobody knows")

    monkeypatch.setattr(rig.fork_server, "fork", lose_answer)
    start_live(rig)
    assert len(asked) == len(GANG)
    assert rig.runs(AttemptId("u-1")) == len(GANG)


def test_one_that_can_not_be_started_is_done_without(tmp_path: Path) -> None:
    fork_server = ForkServer(Path("/nowhere/python"), tmp_path)
    assert fork_server.fork(tmp_path, 0, 0) is None
    fork_server.close()


def test_one_that_ends_at_once_is_not_begun_again_and_again(tmp_path: Path) -> None:
    begun, python = tmp_path / "begun", tmp_path / "python"
    python.write_text(f"#!/bin/sh\necho >> {begun}\n")
    python.chmod(0o700)
    now_s = 0.0
    fork_server = ForkServer(python, tmp_path, lambda: now_s)

    def has_been_given_up() -> bool:
        assert fork_server.fork(tmp_path, 0, 0) is None
        return begun.exists() and not find_living(str(python))

    wait_until(has_been_given_up)
    assert fork_server.fork(tmp_path, 0, 0) is None
    assert begun.read_text() == "\n"
    now_s = 60.0
    assert fork_server.fork(tmp_path, 0, 0) is None
    wait_until(lambda: begun.read_text() == "\n\n")
    fork_server.close()


def test_a_path_without_room_on_the_command_line_is_left_to_spawning(rig: LocalRig) -> None:
    assert rig.fork_server is not None
    with open(os.devnull, "r+b") as null:
        home = Path("/" + "x" * 2 * ROOM)
        assert rig.fork_server.fork(home, null.fileno(), null.fileno()) is None
    start_live(rig)
    assert parent(rig.pid("u-1", CHIEF)) == fork_server_pid(rig)
