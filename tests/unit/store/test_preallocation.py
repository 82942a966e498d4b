"""Room in SQLite's own files."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from footplate.domain.lifecycle import CancelRequested, react
from footplate.store import open_store
from footplate.store.preallocation import LOG_BYTES, SPARE_BYTES
from tests.support.clock import FakeClock
from tests.support.disks import fill, small_disk
from tests.support.jobs import make_job

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="room is taken on Linux only")


def spare_bytes(path: Path) -> int:
    with closing(sqlite3.connect(path)) as database:
        (free,) = database.execute("PRAGMA freelist_count").fetchone()
        (size,) = database.execute("PRAGMA page_size").fetchone()
    return int(free) * int(size)


def blocks_bytes(path: Path) -> int:
    return path.stat().st_blocks * 512


def test_the_log_and_the_database_have_room_on_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "footplate.db"
    with closing(open_store(f"sqlite:///{path}", sole=True)) as store:
        store.keep_room()
        assert blocks_bytes(tmp_path / "footplate.db-wal") >= LOG_BYTES
        assert spare_bytes(path) >= SPARE_BYTES
        assert blocks_bytes(path) >= SPARE_BYTES
        before = path.stat().st_size
        store.keep_room()
        assert path.stat().st_size == before


def test_the_log_keeps_its_room_when_the_store_is_closed_and_nothing_is_lost(
    tmp_path: Path,
) -> None:
    path, job = tmp_path / "footplate.db", make_job()
    for _ in range(2):
        with closing(open_store(f"sqlite:///{path}", sole=True)) as store:
            store.keep_room()
            if not store.counts():
                store.create(job, ())
        assert blocks_bytes(tmp_path / "footplate.db-wal") >= LOG_BYTES
    assert sorted(p.name for p in tmp_path.iterdir()) == ["footplate.db", "footplate.db-wal"]

    with closing(sqlite3.connect(path)) as database:  # which leaves no log behind
        database.execute("UPDATE jobs SET version = version + 1")
        database.commit()
    with closing(open_store(f"sqlite:///{path}")) as store:
        assert store.get(job.name).version == job.version + 1


def test_a_log_that_others_use_stays_theirs(tmp_path: Path) -> None:
    path, job = tmp_path / "footplate.db", make_job()
    store = open_store(f"sqlite:///{path}", sole=True)
    store.keep_room()
    with closing(sqlite3.connect(path)) as reader:
        reader.execute("SELECT count(*) FROM jobs").fetchone()
        store.create(job, ())
        store.close()
        assert reader.execute("SELECT count(*) FROM jobs").fetchone() == (1,)
    with closing(open_store(f"sqlite:///{path}")) as store:
        assert store.get(job.name) == job


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk", "16m") as disk:
        yield disk


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_jobs_change_on_a_full_disk(disk: Path) -> None:
    clock, jobs = FakeClock(), [make_job(f"projects/demo/jobs/job_{n}") for n in range(50)]
    with closing(open_store(f"sqlite:///{disk}/footplate.db", sole=True)) as store:
        for job in jobs:
            store.create(job, ())
        store.keep_room()
        fill(disk)
        for job in jobs:
            reaction = react(job, CancelRequested(clock.now(), "me"))
            store.update(reaction.job, reaction.history)
        assert store.counts() == {}
