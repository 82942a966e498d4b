import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from footplate.backends.local.replica_controller import LOST
from footplate.domain.errors import Unavailable
from footplate.domain.names import AttemptId
from footplate.ports.backend import Presence, ReplicaObservation
from footplate.protocol.ticket import SupervisorTicket
from tests.support.backend_rig import (
    WORKERS,
    all_are,
    make_request,
    make_restart,
    see_restarts,
)
from tests.support.local_backend import LocalRig, find_processes

CHIEF = WORKERS[0]


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[LocalRig]:
    rig = LocalRig(tmp_path)
    yield rig
    rig.close()


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    """A process that has nothing to do with any of this."""
    process = subprocess.Popen([sys.executable, "-S", "-c", "import signal; signal.pause()"])
    yield process
    process.kill()
    process.wait()


def start_live(rig: LocalRig, attempt_id: str = "u-1", count: int = 1) -> None:
    request = make_request(attempt_id, WORKERS[:count])
    rig.backend.start(request)
    rig.settle(lambda: all_are(rig.backend, request, Presence.LIVE))
    rig.settle(lambda: (rig.home(attempt_id, CHIEF) / "begun").exists())


def find_open_files(pid: int) -> set[str]:
    return {str(entry.readlink()) for entry in Path(f"/proc/{pid}/fd").iterdir()}


def only(rig: LocalRig) -> ReplicaObservation:
    (observation,) = rig.backend.list()
    return observation


def test_making_it_touches_nothing(rig: LocalRig) -> None:
    assert rig.backend.list() == ()
    assert not rig.root.exists()


def test_the_ticket_says_all_that_a_supervisor_needs(rig: LocalRig) -> None:
    start_live(rig)
    data = rig.root.parent
    text = (rig.home("u-1", CHIEF) / "ticket.json").read_text()
    assert SupervisorTicket.decode(json.loads(text)) == SupervisorTicket(
        server_file=str(data / "server.json"),
        token=f"u-1.{CHIEF}.token",
        cache=str(data / "cache"),
        buckets=str(data / "buckets"),
        kept=str(rig.root / ".kept"),
        uv="/usr/bin/uv",
        py_spy="/usr/bin/py-spy",
    )


def test_tokens_stand_on_no_command_line(rig: LocalRig) -> None:
    start_live(rig)
    arguments = Path(f"/proc/{rig.pid('u-1', CHIEF)}/cmdline").read_text()
    assert CHIEF in arguments
    assert f"u-1.{CHIEF}.token" not in arguments


def test_supervisors_inherit_nothing_of_the_server(rig: LocalRig, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, open(tmp_path / "f", "w") as file:
        listener.set_inheritable(True)
        os.set_inheritable(file.fileno(), True)
        start_live(rig)
    pid = rig.pid("u-1", CHIEF)
    home = rig.home("u-1", CHIEF)
    ours = {"/dev/null", *(str(home / name) for name in ("supervisor.log", "spawn", "lock"))}
    # It may still hold the file that tells of its start.
    rig.settle(lambda: find_open_files(pid) - {str(home / "begun")} == ours)
    assert os.getsid(pid) == pid
    assert Path(f"/proc/{pid}/cwd").readlink() == Path("/")


def test_no_zombie_is_left(rig: LocalRig) -> None:
    start_live(rig)
    pid = rig.pid("u-1", CHIEF)
    rig.kill(AttemptId("u-1"), CHIEF)
    rig.settle(lambda: only(rig).presence is Presence.GONE)
    with pytest.raises(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    assert find_processes(rig.archive) == ()


def test_without_the_archive_nothing_is_made(rig: LocalRig) -> None:
    content = rig.archive.read_text()
    rig.archive.unlink()
    with pytest.raises(Unavailable, match=r"stand_in\.py, is missing"):
        rig.backend.start(make_request("u-1"))
    assert rig.backend.list() == ()
    rig.archive.write_text(content)
    start_live(rig)


def test_a_root_that_can_not_be_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "replicas").touch()
    rig = LocalRig(tmp_path)
    with pytest.raises(Unavailable):
        rig.backend.start(make_request("u-1"))
    rig.close()


def test_a_closed_backend_starts_nothing(rig: LocalRig) -> None:
    rig.backend.close()
    with pytest.raises(Unavailable):
        rig.backend.start(make_request("u-1"))


def test_a_supervisor_that_can_not_start_is_gone_with_its_last_words(rig: LocalRig) -> None:
    (rig.folder / "break").touch()
    rig.backend.start(make_request("u-1"))
    rig.settle(lambda: only(rig).presence is Presence.GONE)
    assert only(rig).reason == "the replica's supervisor could not start: the stand-in is broken"


def test_a_sweep_that_fails_is_tried_again(rig: LocalRig) -> None:
    start_live(rig)
    (rig.folder / "break-sweep").touch()
    rig.kill(AttemptId("u-1"), CHIEF)
    rig.settle(lambda: "the server tries again: the stand-in can't sweep" in only(rig).reason)
    assert only(rig).presence is Presence.LOST
    assert only(rig).reason.startswith(LOST)
    (rig.folder / "break-sweep").unlink()
    rig.settle(lambda: only(rig).presence is Presence.GONE)
    assert only(rig).reason == "its supervisor died"


def test_the_reason_of_the_end_is_the_supervisors(rig: LocalRig) -> None:
    start_live(rig)
    rig.backend.stop(AttemptId("u-1"))
    rig.settle(lambda: only(rig).presence is Presence.GONE)
    assert only(rig).reason == "stopped"


def test_a_request_that_was_never_fulfilled_is_by_the_next_server(rig: LocalRig) -> None:
    """As after a crash between the rename and the first spawn."""
    request = make_request("u-1", WORKERS)
    rig.hold()
    start_nothing(rig)
    assert all_are(rig.backend, request, Presence.WAITING)
    rig.backend.watch(lambda _: None)
    rig.backend.start(request)
    rig.admit()
    rig.settle(lambda: all_are(rig.backend, request, Presence.LIVE))
    assert rig.runs(AttemptId("u-1")) == len(WORKERS)


def test_a_request_that_was_never_fulfilled_can_be_stopped(rig: LocalRig) -> None:
    start_nothing(rig)
    for replica in WORKERS:
        (rig.home("u-1", replica) / "stop").touch()
    rig.backend.stop(AttemptId("u-1"))
    assert all_are(rig.backend, make_request("u-1", WORKERS), Presence.GONE)
    assert find_processes(rig.archive) == ()


def start_nothing(rig: LocalRig) -> None:
    """Leave a request on disk of which no supervisor was spawned."""
    for replica in WORKERS:
        rig.home("u-1", replica).mkdir(parents=True)
        (rig.home("u-1", replica) / "ticket.json").write_text("{}")


def test_a_stop_that_came_before_the_crash_is_still_told(rig: LocalRig) -> None:
    start_live(rig)
    rig.backend.close()
    (rig.home("u-1", CHIEF) / "stop").touch()
    rig.reopen()
    rig.backend.watch(lambda _: None)
    rig.settle(lambda: only(rig).presence is Presence.GONE)
    assert only(rig).reason == "stopped"


def test_a_planted_pid_is_never_signalled(
    rig: LocalRig, bystander: subprocess.Popen[bytes]
) -> None:
    start_live(rig)
    file = rig.home("u-1", CHIEF) / "pid"
    pid = file.read_text()
    for planted in (bystander.pid, os.getpid(), os.getppid(), 1):
        file.write_text(f"{planted}")
        rig.backend.stop(AttemptId("u-1"))
    assert bystander.poll() is None
    assert only(rig).presence is Presence.LIVE
    file.write_text(pid)
    rig.settle(lambda: only(rig).presence is Presence.GONE)
    assert bystander.poll() is None


def test_after_a_restart_a_planted_pid_only_makes_it_slower(
    rig: LocalRig, bystander: subprocess.Popen[bytes]
) -> None:
    start_live(rig)
    pid = rig.pid("u-1", CHIEF)
    (rig.home("u-1", CHIEF) / "pid").write_text(f"{bystander.pid}")
    rig.reopen()
    rig.backend.watch(lambda _: None)
    assert only(rig).presence is Presence.LIVE
    os.kill(pid, signal.SIGUSR1)
    rig.settle(lambda: only(rig).presence is Presence.GONE)


def test_after_a_reboot_replicas_are_lost_and_nobody_is_signalled(
    rig: LocalRig, bystander: subprocess.Popen[bytes]
) -> None:
    """The supervisor has died with the machine, and its pid is another process's by now."""
    start_live(rig)
    rig.backend.close()
    os.kill(rig.pid("u-1", CHIEF), signal.SIGKILL)
    (rig.home("u-1", CHIEF) / "pid").write_text(f"{bystander.pid}")
    rig.reopen()
    rig.backend.watch(lambda _: None)
    rig.settle(lambda: only(rig).presence is Presence.GONE)
    assert only(rig).reason == "its supervisor died"
    assert bystander.poll() is None


def test_a_planted_gone_is_not_believed_of_the_living(rig: LocalRig) -> None:
    start_live(rig)
    (rig.home("u-1", CHIEF) / "gone").write_text('{"reason": "believe me"}')
    assert only(rig).presence is Presence.LIVE
    rig.backend.forget(AttemptId("u-1"))
    assert only(rig).presence is Presence.LIVE


def test_a_home_that_was_removed_under_a_live_supervisor(rig: LocalRig) -> None:
    """It can't be cleared up after; but while its supervisor lives it isn't gone."""
    start_live(rig)
    pid = rig.pid("u-1", CHIEF)
    rig.root.joinpath("u-1").rename(rig.root.parent / "moved")
    assert only(rig).presence is Presence.LIVE
    os.kill(pid, signal.SIGKILL)
    rig.settle(lambda: rig.backend.list() == ())


def test_locks_that_a_program_removed_make_no_second_supervisor(rig: LocalRig) -> None:
    start_live(rig)
    request = make_request("u-1")
    for name in ("lock", "pid", "spawn"):
        (rig.home("u-1", CHIEF) / name).unlink()
    rig.backend.start(request)
    assert only(rig).presence is Presence.LIVE
    assert rig.runs(request.attempt_id) == 1


def test_a_log_that_a_program_replaced_stops_no_sweep(rig: LocalRig, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    start_live(rig)
    log = rig.home("u-1", CHIEF) / "supervisor.log"
    log.unlink()
    log.symlink_to(tmp_path / "precious")
    (rig.folder / "break-sweep").touch()
    rig.kill(AttemptId("u-1"), CHIEF)
    rig.settle(lambda: "tries again" in only(rig).reason)
    (rig.folder / "break-sweep").unlink()
    rig.settle(lambda: only(rig).presence is Presence.GONE)
    assert (tmp_path / "precious").read_text() == "mine"


def test_a_lock_that_a_program_replaced_makes_nobody_lost(rig: LocalRig) -> None:
    start_live(rig)
    pid = rig.pid("u-1", CHIEF)
    lock = rig.home("u-1", CHIEF) / "lock"
    lock.unlink()
    lock.symlink_to("/nowhere")
    rig.reopen()
    rig.backend.watch(lambda _: None)
    assert only(rig).presence is Presence.LIVE
    assert rig.pid("u-1", CHIEF) in find_processes(rig.archive)
    os.kill(pid, signal.SIGUSR1)
    rig.settle(lambda: only(rig).presence is Presence.GONE)
    assert only(rig).reason == "it ended"


def test_many_that_were_lost_at_once_are_swept_up_after(rig: LocalRig) -> None:
    gangs = [make_request(f"u{number}-1", WORKERS) for number in range(8)]
    for gang in gangs:
        rig.backend.start(gang)
    for gang in gangs:
        rig.settle(partial(all_are, rig.backend, gang, Presence.LIVE))
    rig.backend.close()
    for gang in gangs:
        for replica in WORKERS:
            rig.kill(gang.attempt_id, replica)
    rig.reopen()
    rig.backend.watch(lambda _: None)
    rig.settle(lambda: {s.presence for s in rig.backend.list()} == {Presence.GONE})


def test_stop_of_a_closed_backend_is_for_the_next_one(rig: LocalRig) -> None:
    start_live(rig)
    rig.backend.close()
    rig.backend.stop(AttemptId("u-1"))
    assert only(rig).presence is Presence.LIVE


def test_forget_follows_no_link_that_a_program_left(rig: LocalRig, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").touch()
    start_live(rig)
    work = rig.home("u-1", CHIEF) / "work"
    work.mkdir()
    (work / "link").symlink_to(outside)
    (work / "closed").mkdir(mode=0o000)
    rig.finish(AttemptId("u-1"), CHIEF)
    rig.settle(lambda: only(rig).presence is Presence.GONE)
    rig.backend.forget(AttemptId("u-1"))
    rig.settle(lambda: not list((rig.root / ".trash").iterdir()))
    assert (outside / "precious").exists()


def test_a_gang_with_a_live_member_is_kept_whole(rig: LocalRig) -> None:
    start_live(rig, count=2)
    rig.finish(AttemptId("u-1"), CHIEF)
    rig.settle(lambda: rig.backend.list()[0].presence is Presence.GONE)
    rig.backend.forget(AttemptId("u-1"))
    assert len(rig.backend.list()) == 2


def test_a_listener_that_fails_keeps_nobody_else_from_hearing(
    rig: LocalRig, caplog: pytest.LogCaptureFixture
) -> None:
    heard = threading.Event()

    def fail(_: AttemptId) -> None:
        raise ValueError("of no use")

    rig.backend.watch(fail)
    rig.backend.watch(lambda _: heard.set())
    with caplog.at_level(logging.ERROR):
        rig.backend.start(make_request("u-1"))
        rig.settle(heard.is_set)
    assert "a listener failed for u-1" in caplog.text


def test_it_can_be_closed_by_a_listener(rig: LocalRig) -> None:
    closed = threading.Event()

    def close(_: AttemptId) -> None:
        rig.backend.close()
        closed.set()

    rig.backend.watch(close)
    rig.backend.start(make_request("u-1"))
    rig.settle(closed.is_set)


def test_nothing_is_looked_at_again_while_nothing_happens(rig: LocalRig) -> None:
    """Event-driven: once all live, no timer is left."""
    start_live(rig, count=3)
    rig.settle(lambda: rig.backend.seconds_to_due() is None)


def test_a_replica_whose_home_was_removed_starts_again_beside_the_others(rig: LocalRig) -> None:
    start_live(rig, count=2)
    pid = rig.pid("u-1", WORKERS[1])
    rig.home("u-1", WORKERS[1]).rename(rig.root.parent / "moved")
    request = make_restart(make_request("u-1", WORKERS[:2]), WORKERS[1])
    rig.backend.start(request)
    assert see_restarts(rig.backend, request)[WORKERS[1]] == (0, Presence.LIVE)

    os.kill(pid, signal.SIGKILL)
    rig.settle(lambda: WORKERS[1] not in see_restarts(rig.backend, request))
    rig.backend.start(request)
    rig.settle(lambda: all_are(rig.backend, request, Presence.LIVE))
    assert see_restarts(rig.backend, request) == {
        CHIEF: (0, Presence.LIVE),
        WORKERS[1]: (1, Presence.LIVE),
    }


def test_a_gang_whose_homes_were_removed_makes_no_second_one_of_the_living(rig: LocalRig) -> None:
    start_live(rig, count=2)
    chief, worker = rig.pid("u-1", CHIEF), rig.pid("u-1", WORKERS[1])
    rig.root.joinpath("u-1").rename(rig.root.parent / "moved")
    os.kill(worker, signal.SIGKILL)
    request = make_restart(make_request("u-1", WORKERS[:2]), WORKERS[1])
    rig.settle(lambda: WORKERS[1] not in see_restarts(rig.backend, request))
    rig.backend.start(request)
    rig.settle(lambda: see_restarts(rig.backend, request)[WORKERS[1]] == (1, Presence.LIVE))
    rig.pid("u-1", WORKERS[1])

    assert not rig.home("u-1", CHIEF).exists()
    os.kill(chief, signal.SIGKILL)


def test_a_start_that_fails_for_one_sees_to_the_others(rig: LocalRig) -> None:
    start_live(rig, count=2)
    for replica in WORKERS[:2]:
        rig.kill(AttemptId("u-1"), replica)
    request = make_request("u-1", WORKERS[:2])
    rig.settle(lambda: all_are(rig.backend, request, Presence.GONE))
    later = make_restart(make_restart(request, CHIEF), WORKERS[1])
    (rig.root / "u-1" / f"{WORKERS[1]}~1").touch()
    with pytest.raises(Unavailable):
        rig.backend.start(later)
    rig.settle(lambda: see_restarts(rig.backend, request)[CHIEF] == (1, Presence.LIVE))
    rig.pid("u-1", CHIEF)
