"""The local backend over real supervisors, which talk to a scripted server."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from footplate.backends.local import LocalBackend
from footplate.domain.names import AttemptId
from footplate.ports.backend import AttemptStart, Presence, Ticket
from footplate.replica.isolation.procfs import find
from footplate.replica.supervisor_archive import build_archive
from tests.support import ROOT
from tests.support.backend_rig import see
from tests.support.local_backend import find_processes, make_ready_fork_server, wait_until
from tests.support.replica_api import TOKEN, ReplicaApi
from tests.support.supervisor_process import Supervised, command_task, python_task

OWNER = "tests.e2e.backends.owner"
ATTEMPT = AttemptId("u-1")
CHIEF = "master-replica-0"
REQUEST = AttemptStart(ATTEMPT, (Ticket(CHIEF, TOKEN),))
WAITS_FOR_END = """
import pathlib, sys, time
print("began", flush=True)
while not pathlib.Path(sys.argv[1]).exists():
    time.sleep(0.01)
print("ended", flush=True)
"""


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_archive(tmp_path_factory.mktemp("archive"))


class World:
    """A server that answers supervisors, and the backend of whoever is alive just now."""

    def __init__(self, folder: Path, archive: Path, *, forked: bool) -> None:
        """``forked``: supervisors come from a fork server."""
        self.folder = folder
        self.archive = archive
        self.forked = forked
        self.end = folder / "buckets" / "end"
        self.end.parent.mkdir()
        self.task = python_task(WAITS_FOR_END, str(self.end))
        self.api = ReplicaApi(folder / "server.json", self.task)
        self.api.start()
        self.changed = threading.Event()
        self.backend = self.make_backend()

    def make_backend(self) -> LocalBackend:
        return LocalBackend(
            root=self.folder / "replicas",
            archive=self.archive,
            python=Path(sys.executable),
            server_file=self.folder / "server.json",
            cache=self.folder / "cache",
            buckets=self.folder / "buckets",
            uv=Path("/usr/bin/uv"),
            fork_server=make_ready_fork_server(self.archive) if self.forked else None,
        )

    def watch(self) -> None:
        self.backend.watch(lambda _: self.changed.set())

    def presence(self) -> Presence:
        (observation,) = see(self.backend, REQUEST)
        return observation.presence

    def await_presence(self, presence: Presence) -> str:
        wait_until(lambda: self.presence() is presence)
        return see(self.backend, REQUEST)[0].reason

    def await_program(self) -> None:
        self.api.wait_for(lambda: self.api.lines() == ["began"])

    def supervisors(self) -> tuple[int, ...]:
        """Without those that they have forked to keep the program, which look like them."""
        alike = [find(pid) for pid in find_processes(self.folder / "replicas" / ATTEMPT / CHIEF)]
        found = {process.pid: process.parent for process in alike if process is not None}
        return tuple(pid for pid, parent in found.items() if parent not in found)

    def program(self) -> tuple[int, ...]:
        return find_processes(self.end)

    def close(self) -> None:
        self.end.touch()
        try:
            if see(self.backend, REQUEST):
                self.backend.stop(ATTEMPT)
                self.await_presence(Presence.GONE)
        finally:
            self.backend.close()
            self.api.stop()


@pytest.fixture(params=["spawned", "forked"])
def world(tmp_path: Path, archive: Path, request: pytest.FixtureRequest) -> Iterator[World]:
    world = World(tmp_path, archive, forked=request.param == "forked")
    yield world
    world.close()


@pytest.fixture
def run_owner(world: World) -> Iterator[Callable[[], subprocess.Popen[str]]]:
    """Start the attempt from another process."""
    owners: list[subprocess.Popen[str]] = []

    def run() -> subprocess.Popen[str]:
        kind = "start-forked" if world.forked else "start"
        owner = subprocess.Popen(
            [sys.executable, "-m", OWNER, kind, world.folder, world.archive, ATTEMPT, CHIEF],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        owners.append(owner)
        assert owner.stdout is not None
        assert owner.stdout.readline() == "started\n"
        return owner

    yield run
    for owner in owners:
        owner.kill()
        owner.communicate()


def test_a_program_runs_to_its_end(world: World) -> None:
    world.watch()
    world.backend.start(REQUEST)
    world.await_program()
    assert world.presence() is Presence.LIVE
    world.changed.clear()
    world.end.touch()
    assert world.changed.wait(60)
    assert world.await_presence(Presence.GONE)
    assert world.api.exit is not None
    assert world.api.exit["kind"] == "EXITED"
    world.backend.forget(ATTEMPT)
    assert world.backend.list() == ()


def test_a_stopped_program_says_so(world: World) -> None:
    world.backend.start(REQUEST)
    world.await_program()
    world.backend.stop(ATTEMPT)
    world.await_presence(Presence.GONE)
    assert world.api.exit is not None
    assert world.api.exit["kind"] == "STOPPED"
    assert world.program() == ()


def test_a_stop_at_once_lets_no_program_live(world: World) -> None:
    world.backend.start(REQUEST)
    world.backend.stop(ATTEMPT)
    world.await_presence(Presence.GONE)
    assert world.api.lines() == []
    wait_until(lambda: not world.supervisors())  # The lock is free a moment before the end.


def test_a_mark_to_stop_needs_no_signal(tmp_path: Path, archive: Path) -> None:
    replica = Supervised(tmp_path / "replica", command_task(["true"]), archive=archive)
    (replica.home / "stop").touch()
    try:
        assert replica.supervise()["kind"] == "STOPPED"
        assert replica.api.phases() == ["PREPARING"]
    finally:
        replica.close()


def test_a_job_goes_on_when_its_server_is_killed(
    world: World, run_owner: Callable[[], subprocess.Popen[str]]
) -> None:
    owner = run_owner()
    world.await_program()
    owner.kill()
    owner.wait()
    world.watch()
    assert world.presence() is Presence.LIVE
    world.backend.start(REQUEST)
    assert len(world.supervisors()) == 1
    world.changed.clear()
    world.end.touch()
    assert world.changed.wait(60)
    world.await_presence(Presence.GONE)
    assert world.api.lines() == ["began", "ended"]
    assert world.api.duplicates == 0
    assert world.api.exit is not None
    assert world.api.exit["kind"] == "EXITED"


def test_four_servers_killed_in_a_row(
    world: World, run_owner: Callable[[], subprocess.Popen[str]]
) -> None:
    for _ in range(4):
        owner = run_owner()
        world.await_program()
        owner.kill()
        owner.wait()
    assert len(world.supervisors()) == 1
    world.end.touch()
    world.watch()
    world.await_presence(Presence.GONE)
    assert world.api.lines() == ["began", "ended"]


def test_what_ended_while_no_server_was_there(
    world: World, run_owner: Callable[[], subprocess.Popen[str]]
) -> None:
    owner = run_owner()
    world.await_program()
    owner.kill()
    owner.wait()
    world.end.touch()
    wait_until(lambda: world.presence() is Presence.GONE)
    wait_until(lambda: not world.supervisors())
    assert world.api.lines() == ["began", "ended"]


@pytest.mark.parametrize("server_dies", [False, True])
def test_a_killed_supervisor_is_swept_up_after(
    world: World, run_owner: Callable[[], subprocess.Popen[str]], *, server_dies: bool
) -> None:
    if server_dies:
        owner = run_owner()
        world.await_program()
        owner.kill()
        owner.wait()
        world.watch()
    else:
        world.watch()
        world.backend.start(REQUEST)
        world.await_program()
    world.changed.clear()
    kill_supervisor(world)
    assert world.changed.wait(60)
    assert world.await_presence(Presence.GONE) == "the replica's supervisor died"
    assert world.program() == ()
    assert world.api.events("SUPERVISOR_LOST")
    assert world.api.exit is None


def test_a_supervisor_killed_while_no_server_was_there(
    world: World, run_owner: Callable[[], subprocess.Popen[str]]
) -> None:
    owner = run_owner()
    world.await_program()
    owner.kill()
    owner.wait()
    kill_supervisor(world)
    wait_until(lambda: world.presence() is Presence.LOST)  # The kernel frees its lock at its end.
    world.watch()
    world.await_presence(Presence.GONE)
    assert world.program() == ()


def kill_supervisor(world: World) -> None:
    pid = int((world.folder / "replicas" / ATTEMPT / CHIEF / "pid").read_text())
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: pid not in world.supervisors())
