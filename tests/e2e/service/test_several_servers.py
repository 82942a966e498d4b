"""Several servers on one PostgreSQL: whichever is killed or stopped, nothing is lost or doubled."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from footplate.client.service import Service
from footplate.domain.job_states import State
from footplate.domain.names import JobName
from footplate.testing.service import RunningService
from footplate.wire.footplate_v1.status import Server
from tests.e2e.service.conftest import CACHE, Context
from tests.e2e.service.test_fault_injector import MASTER, PAIR, WORKER
from tests.e2e.service.tuning_helpers import REPORTER, search, trials
from tests.support.forked_process import run_footplate
from tests.support.postgresql import Postgresql
from tests.support.profiles import seeded
from tests.support.supervisor_process import find_living

if TYPE_CHECKING:
    import subprocess

LEASE_S = 1
LAST = 200
COUNTER = f"""
import time
for number in range({LAST}):
    print("line", number, flush=True)
    time.sleep(0.01)
"""
WAITER = """
import os, sys, time
while not os.path.exists(sys.argv[1]):
    time.sleep(0.02)
"""
TUNED = (
    REPORTER
    + """
tell = HyperTune()
for step in range(1, 4):
    tell.tell("loss", given.x / step, step)
    print("trial", trial, "step", step, flush=True)
    time.sleep(0.1)
"""
)


class Fleet(Context):
    """Servers of one service; its clients ask whichever is alive, and try again elsewhere."""

    def __init__(self, data_dir: Path, database_url: str, count: int) -> None:
        self.servers = [
            RunningService(
                data_dir, CACHE, database_url=database_url, lease_s=LEASE_S, stop_grace_s=1
            )
            for _ in range(count)
        ]
        for number, server in enumerate(self.servers):
            server.log = data_dir.with_name(f"server-{number}.log")
            server.start()
        self.stopped: RunningService | None = None
        super().__init__(self.servers[0])

    @property
    def url(self) -> str:
        awake = (s for s in self.servers if s.alive and s is not self.stopped)
        return next(awake).url

    def known(self) -> dict[str, Server]:
        with self.client() as client:
            return {server.url: server for server in client.status().servers}

    def leader(self) -> RunningService:
        """Once there is one that is awake."""
        found: list[RunningService] = []

        def leads() -> bool:
            known = self.known()
            awake = [s for s in self.servers if s.alive and s is not self.stopped]
            found.extend(s for s in awake if s.url in known and known[s.url].leads)
            return bool(found)

        self.until(leads)
        return found[0]

    def down(self) -> None:
        for server in self.servers:
            if server.alive:
                os.kill(server.pid, signal.SIGCONT)
        if not any(server.alive for server in self.servers):
            self.servers[0].start()
        next(server for server in self.servers if server.alive).down()

    def progress(self, names: list[JobName]) -> int:
        """How much has become known of the jobs: their events, and their lines."""
        with self.client() as client:
            return sum(
                sum(1 for _ in client.events(name)) + sum(1 for _ in client.logs(name))
                for name in names
            )

    def go_on(self, names: list[JobName], more: int) -> None:
        """Until so much more has become known, or all have ended."""
        wanted = self.progress(names) + more
        self.until(
            lambda: (
                self.progress(names) >= wanted
                or all(self.job(name).state.terminal for name in names)
            )
        )

    def stop(self, server: RunningService) -> None:
        self.stopped = server
        os.kill(server.pid, signal.SIGSTOP)

    def wake(self) -> None:
        assert self.stopped is not None
        os.kill(self.stopped.pid, signal.SIGCONT)
        self.stopped = None


@pytest.fixture
def database_url(postgresql: Postgresql) -> str:
    return postgresql.create_database()


@pytest.fixture
def start(tmp_path: Path, database_url: str) -> Iterator[Callable[[int], Fleet]]:
    fleets: list[Fleet] = []

    def begin(count: int) -> Fleet:
        fleets.append(Fleet(tmp_path / "data", database_url, count))
        return fleets[-1]

    yield begin
    for fleet in fleets:
        fleet.down()
        for server in fleet.servers:
            assert not server.alive or server._process is None or server._process.wait(60) == 0


def check_lines(fleet: Fleet, name: JobName) -> None:
    """Each once, in order; the job's end may cut off a worker's."""
    lines = fleet.lines(name)
    for replica in {line.replica for line in lines}:
        printed = [line.message for line in lines if line.replica == replica]
        assert printed == [f"line {n}" for n in range(len(printed))]
        assert replica == WORKER or len(printed) == LAST
    assert {line.replica for line in lines} >= {MASTER}


def check_untouched(fleet: Fleet, name: JobName) -> None:
    """One attempt, and each replica started once."""
    with fleet.client() as client:
        kinds = [event.kind for event in client.events(name)]
    assert {"RESTART", "RETRY", "LOST"}.isdisjoint(kinds)
    assert {line.attempt for line in fleet.lines(name)} == {1}


def test_leaders_are_killed_and_stopped_at_random_moments(
    start: Callable[[int], Fleet],
) -> None:
    rng = seeded(6)
    fleet = start(2)
    counting = [fleet.submit(COUNTER), fleet.submit(COUNTER, **PAIR)]
    searching = fleet.submit(TUNED, hyperparameters=search(4, 2))
    names: list[JobName] = [*counting, searching]
    for action in ("kill", "stop"):
        fleet.go_on(names, rng.choice([1, 3, 10, 40, 90]))
        leader = fleet.leader()
        if action == "kill":
            leader.kill()
            assert fleet.leader() is not leader
            leader.start()
        else:
            fleet.stop(leader)
            assert fleet.leader() is not leader
            fleet.go_on(names, 20)
            fleet.wake()
    for name in names:
        assert fleet.wait_for(name).state is State.SUCCEEDED, fleet.job(name).error_message
    for name in counting:
        check_lines(fleet, name)
        check_untouched(fleet, name)
    made = trials(fleet, searching)
    assert [trial.number for trial in made] == [1, 2, 3, 4]
    assert len({trial.parameters["x"] for trial in made}) == 4
    for number in range(1, 5):
        with fleet.client() as client:
            told = [line.message for line in client.logs(searching, trial=number)]
            assert [m.step for m in client.measurements(searching, number)] == [1, 2, 3]
        assert told == [f"trial {number} step {step}" for step in (1, 2, 3)]
    assert find_living(str(fleet.service.data_dir / "replicas")) == []


def test_a_follower_serves_everything(start: Callable[[int], Fleet]) -> None:
    fleet = start(2)
    leader = fleet.leader()
    follower = next(server for server in fleet.servers if server is not leader)
    go = fleet.bucket / "go"
    with Service(follower.url) as client:
        client.quotas.change("demo", "*", {"jobs": 1})
        first = fleet.submit(WAITER, str(go))
        second = fleet.submit("print('second', flush=True)")
        fleet.wait_for(first, State.RUNNING)
        assert fleet.job(second).state is State.QUEUED
        assert client.stacks(first).comparison is not None
        assert httpx.get(f"{follower.url}/replica/v1/task").status_code == 503
        client.quotas.change("demo", "*", {"jobs": 2})
        assert [line.message for line in client.logs(second, follow=True)] == ["second"]
        go.touch()
        assert list(client.logs(first, follow=True)) == []
        fleet.wait_for(first, State.SUCCEEDED)
        leader.stop()
        third = fleet.submit("print('third', flush=True)")
        assert [line.message for line in client.logs(third, follow=True)] == ["third"]


def up(**settings: str) -> subprocess.CompletedProcess[str]:
    """A server that is expected to be refused."""
    env = {**os.environ, **{f"FOOTPLATE_{name.upper()}": text for name, text in settings.items()}}
    return run_footplate("up", "--port=0", env=env, timeout=60)


def test_who_cannot_share_is_refused(
    start: Callable[[int], Fleet], tmp_path: Path, database_url: str
) -> None:
    fleet = start(1)
    data_dir, url = str(fleet.service.data_dir), fleet.service.url
    private = up(data_dir=str(tmp_path / "private"), database_url=database_url)
    assert private.returncode != 0
    assert f"the server {url} (process {fleet.service.pid} on " in private.stderr
    assert f"start this server with --data-dir {data_dir}" in private.stderr
    sqlite = up(data_dir=data_dir)
    assert f"another server (process {fleet.service.pid}, {url}) already uses" in sqlite.stderr
    with fleet.client() as client:
        assert len(client.status().servers) == 1
