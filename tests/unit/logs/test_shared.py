"""Files that two servers append to, of which one may have been believed dead."""

from __future__ import annotations

import fcntl
import os
import threading
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from footplate import file_lock
from footplate.domain.errors import Unavailable
from footplate.logs.files import FileLogs, FileWatcher
from footplate.logs.journal import Journal
from footplate.logs.log_records import Writer
from footplate.logs.usage import FileUsage
from tests.support import usage_contract
from tests.support.deadlines import EVENT_S
from tests.support.logs_contract import (
    JOB,
    MASTER,
    START,
    WORKER,
    SettableClock,
    make_line,
    make_lines,
    messages,
)
from tests.support.profiles import scaled

CHECKPOINT_BYTES = 400
"""Small, so that short files have many."""


def always() -> bool:
    return True


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock()


@pytest.fixture
def one(tmp_path: Path, clock: SettableClock) -> FileLogs:
    return FileLogs(tmp_path / "logs", clock.now)


@pytest.fixture
def other(tmp_path: Path, clock: SettableClock) -> FileLogs:
    return FileLogs(tmp_path / "logs", clock.now, elsewhere=always)


def test_what_comes_to_both_is_kept_once(one: FileLogs, other: FileLogs) -> None:
    one.append(JOB, 1, MASTER, make_lines(1, 3))
    other.append(JOB, 1, MASTER, make_lines(2, 5))
    one.append(JOB, 1, MASTER, make_lines(4, 6))
    other.append(JOB, 1, MASTER, make_lines(1, 6))
    for logs in (one, other):
        assert messages(logs.read(JOB).entries) == [f"line {n}" for n in range(1, 7)]
        assert messages(logs.tail(JOB, 1, MASTER, 2)) == ["line 5", "line 6"]
        assert messages(logs.read_back(JOB, limit=1).entries) == ["line 6"]
    assert [path.name for path in one._directory.iterdir()] == [f"{JOB}.jsonl"]


@given(
    st.lists(
        st.tuples(st.booleans(), st.sampled_from([MASTER, WORKER]), st.integers(1, 5)), max_size=40
    )
)
@settings(max_examples=scaled(50), deadline=None)
def test_two_in_any_order_keep_each_line_once_and_in_order(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[bool, str, int]]
) -> None:
    """What a writer has reported so far may come again, to whichever of the two."""
    path = tmp_path_factory.mktemp("logs") / "job.jsonl"
    journals = [Journal(path, create=True, checkpoint_bytes=CHECKPOINT_BYTES) for _ in range(2)]
    reported = {MASTER: 0, WORKER: 0}
    for which, replica, more in steps:
        first = max(1, reported[replica] - 2)
        reported[replica] += more
        lines = make_lines(first, reported[replica])
        journals[which].append(Writer(1, replica), lines, START)
    for journal in (*journals, Journal(path, create=True)):
        entries = journal.read(0, 1000).entries
        for replica, last in reported.items():
            kept = [e.line.sequence for e in entries if e.replica == replica]
            assert kept == list(range(1, last + 1))
            tail = journal.tail(Writer(1, replica), 1000)
            assert [e.line.sequence for e in tail] == kept
        assert all(a.timestamp < b.timestamp for a, b in pairwise(entries))
        journal.close()


def test_a_torn_end_of_one_that_died_is_cut_off_by_the_other(
    tmp_path: Path, one: FileLogs, other: FileLogs
) -> None:
    one.append(JOB, 1, MASTER, make_lines(1, 2))
    assert len(other.read(JOB).entries) == 2
    with (tmp_path / "logs" / f"{JOB}.jsonl").open("ab") as file:
        file.write(b'["2026-01-02T03:04:05.000000Z",1,"master-re')
    assert len(other.read(JOB).entries) == 2
    other.append(JOB, 1, MASTER, make_lines(2, 3))
    for logs in (one, other):
        assert messages(logs.read(JOB).entries) == ["line 1", "line 2", "line 3"]


def test_who_follows_hears_of_the_others_lines(one: FileLogs, other: FileLogs) -> None:
    one.append(JOB, 1, MASTER, [make_line(1)])
    grown = threading.Event()
    leave = other.watch(JOB, grown.set)
    one.append(JOB, 1, MASTER, [make_line(2)])
    assert grown.wait(EVENT_S)
    leave()
    other.close()


def test_nobody_is_looked_for_who_cannot_write(tmp_path: Path) -> None:
    looked = threading.Event()
    grown: list[str] = []

    def elsewhere() -> bool:
        looked.set()
        return False

    growth = FileWatcher(lambda _: len(grown) + 1, grown.append, elsewhere, look_s=0.0)
    leave = growth.watch(JOB, lambda: None)
    assert looked.wait(EVENT_S)
    leave()
    growth.close()
    assert grown == []


def test_one_that_was_stopped_in_the_middle_holds_up_nobody_for_long(
    tmp_path: Path, one: FileLogs, other: FileLogs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_lock, "TIMEOUT_S", 0.0)
    one.append(JOB, 1, MASTER, [make_line(1)])
    assert len(other.read(JOB).entries) == 1
    stopped = os.open(tmp_path / "logs" / f"{JOB}.jsonl", os.O_RDONLY)
    fcntl.flock(stopped, fcntl.LOCK_EX)
    with pytest.raises(Unavailable, match="another process has locked the file"):
        other.append(JOB, 1, MASTER, [make_line(2)])
    assert len(other.read(JOB).entries) == 1
    os.close(stopped)
    other.append(JOB, 1, MASTER, [make_line(2)])
    assert len(one.read(JOB).entries) == 2


def test_samples_that_come_to_both_are_kept_once(tmp_path: Path, clock: SettableClock) -> None:
    job, master, samples = usage_contract.JOB, usage_contract.MASTER, usage_contract.make_samples
    one = FileUsage(tmp_path, lambda: usage_contract.START.replace(year=2027), most=8)
    other = FileUsage(tmp_path, lambda: usage_contract.START.replace(year=2027), most=8)
    one.append(job, 1, master, samples(1, 3))
    other.append(job, 1, master, samples(2, 5))
    assert one.last(job, 1, master) == 5
    one.append(job, 1, master, samples(4, 6))
    points = other.read(job, master, 100)
    assert usage_contract.times(points) == [10.0 * n for n in range(1, 7)]
    one.append(job, 1, master, samples(7, 12))  # now there are half as many points
    other.append(job, 1, master, samples(10, 13))
    assert other.last(job, 1, master) == one.last(job, 1, master) == 13
    assert usage_contract.times(one.read(job, master, 100))[-1] == 130.0
    assert sum(point.seconds for point in one.read(job, master, 100)) == pytest.approx(130.0)
