"""The terms of one server, with ones that only note what happens to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from footplate.domain.errors import Unavailable
from footplate.domain.names import JobUid
from footplate.ports.leases import Lease
from footplate.server.data_dir import DataDir
from footplate.server.leadership import LeadershipServices

if TYPE_CHECKING:
    from pathlib import Path

    from footplate.server.leader_services import LeaderServices

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

    def wake(self) -> None:
        self._notes.append("woken")

    def changed(self, uid: JobUid) -> None:
        self._notes.append(f"changed {uid}")


@pytest.fixture
def notes() -> list[str]:
    return []


@pytest.fixture
def data_dir(tmp_path: Path) -> DataDir:
    made = DataDir(tmp_path / "data")
    made.make()
    return made


def make_terms(notes: list[str], data_dir: DataDir, *, fails: bool = False) -> LeadershipServices:
    def make(_lease: Lease) -> LeaderServices:
        return cast("LeaderServices", NotedTerm(notes, fails=fails))

    return LeadershipServices(make, data_dir, lambda: notes.append("dismissed"))


def test_a_term_hears_what_happens_while_it_lasts(notes: list[str], data_dir: DataDir) -> None:
    leadership_services = make_terms(notes, data_dir)
    leadership_services.wake()
    leadership_services.begin(LEASE)
    leadership_services.wake()
    leadership_services.changed(JobUid("abc"))
    found = data_dir.announcement()
    assert found is not None
    assert found.url == LEASE.url

    leadership_services.end()
    leadership_services.wake()
    leadership_services.changed(JobUid("abc"))
    leadership_services.refresh()
    assert notes == ["started", "woken", "changed abc", "dismissed", "closed"]
    assert data_dir.announcement() is None


def test_a_term_that_can_not_start_leaves_nothing(notes: list[str], data_dir: DataDir) -> None:
    leadership_services = make_terms(notes, data_dir, fails=True)
    with pytest.raises(Unavailable):
        leadership_services.begin(LEASE)
    leadership_services.wake()
    assert notes == ["started", "closed"]
    assert data_dir.announcement() is None


def test_an_end_without_a_term_does_no_harm(notes: list[str], data_dir: DataDir) -> None:
    make_terms(notes, data_dir).end()
    assert notes == ["dismissed"]
