"""The terms of one server, with ones that only note what happens to them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from footplate.domain.errors import Unavailable
from footplate.domain.jobs import Job
from footplate.domain.names import JobUid
from footplate.ports.leases import Lease
from footplate.server.data_dir import DataDir
from footplate.server.leader_services import LeaderServices
from footplate.server.leadership import CurrentLeader, LeadershipServices

LEASE = Lease("one", "http://127.0.0.1:8470", 1, 0, 10.0)


class NotedTerm:
    """Fails to start where it is told so."""

    def __init__(self, notes: list[str], *, fails: bool = False) -> None:
        self._notes = notes
        self._fails = fails

    def start(self) -> None:
        self._notes.append("started")
        if self._fails:
            raise Unavailable("the database is away")

    def close(self) -> None:
        self._notes.append("closed")

    def leads(self) -> bool:
        return True

    def wake(self) -> None:
        self._notes.append("woken")

    def changed(self, uid: JobUid, _job: Job | None) -> None:
        self._notes.append(f"changed {uid}")


@pytest.fixture
def notes() -> list[str]:
    return []


@pytest.fixture
def data_dir(tmp_path: Path) -> DataDir:
    made = DataDir(tmp_path / "data")
    made.make()
    return made


class Server:
    """A server that may lead."""

    def __init__(self, notes: list[str], data_dir: DataDir, *, fails: bool = False) -> None:
        def make(_lease: Lease, _leads: Callable[[], bool]) -> LeaderServices:
            return cast("LeaderServices", NotedTerm(notes, fails=fails))

        self.leader = CurrentLeader()
        self._leadership = LeadershipServices(
            self.leader, make, data_dir, lambda: notes.append("dismissed")
        )

    def begin(self) -> None:
        self._leadership.begin(LEASE, lambda: True)

    def end(self) -> None:
        self._leadership.end()


def test_a_term_hears_what_happens_while_it_lasts(notes: list[str], data_dir: DataDir) -> None:
    server = Server(notes, data_dir)
    server.leader.wake()
    server.begin()
    assert server.leader.leads
    server.leader.wake()
    server.leader.changed(JobUid("abc"))
    found = data_dir.announcement()
    assert found is not None
    assert found.url == LEASE.url

    server.end()
    server.leader.wake()
    server.leader.changed(JobUid("abc"))
    server.leader.refresh()
    assert notes == ["started", "woken", "changed abc", "dismissed", "closed"]
    assert data_dir.announcement() is None


def test_a_term_that_can_not_start_leaves_nothing(notes: list[str], data_dir: DataDir) -> None:
    server = Server(notes, data_dir, fails=True)
    with pytest.raises(Unavailable):
        server.begin()
    server.leader.wake()
    assert notes == ["started", "closed"]
    assert data_dir.announcement() is None


def test_an_end_without_a_term_does_no_harm(notes: list[str], data_dir: DataDir) -> None:
    Server(notes, data_dir).end()
    assert notes == ["dismissed"]
