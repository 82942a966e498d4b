"""Logs that have reached their limit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from footplate.domain.names import JobUid
from footplate.logs.files import FileLogs
from tests.support.logs_contract import SettableClock, make_line

JOB = JobUid("job")
MASTER, WORKER = "master-0", "worker-0"
LIMIT = 1 << 20


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock()


@pytest.fixture
def logs(tmp_path: Path, clock: SettableClock) -> Iterator[FileLogs]:
    made = FileLogs(tmp_path, clock.now, limit_bytes=LIMIT)
    yield made
    made.close()


def told(logs: FileLogs, replica: str = MASTER) -> list[str]:
    """What the log says of lines that were left out."""
    entries = logs.tail(JOB, 1, replica, 100)
    return [e.line.message.rpartition(": ")[2] for e in entries if "log_limit_mb" in e.line.message]


def test_what_goes_over_the_limit_is_counted(logs: FileLogs, clock: SettableClock) -> None:
    logs.append(JOB, 1, MASTER, [make_line(1, "x" * LIMIT)])
    size = logs.size(JOB)
    for number in range(2, 102):
        logs.append(JOB, 1, MASTER, [make_line(number, "y" * 1000)])
        logs.append(JOB, 1, MASTER, [make_line(number, "y" * 1000)])  # it comes again
    doubled = ["1 line", *(f"{2**n} lines" for n in range(1, 7))]
    assert told(logs) == doubled
    clock.time += timedelta(minutes=1)
    logs.append(JOB, 1, MASTER, [make_line(102)])
    assert told(logs) == [*doubled, "101 lines"]
    logs.append(JOB, 1, MASTER, [make_line(103)])
    logs.append(JOB, 1, WORKER, [make_line(1)])
    assert told(logs) == [*doubled, "101 lines"]
    assert told(logs, WORKER) == ["1 line"]
    assert logs.size(JOB) < size + 4000


def test_written_entries_are_counted_apart_from_printed_lines(logs: FileLogs) -> None:
    def told_of_written() -> list[str]:
        entries = logs.tail(JOB, 1, MASTER, 100, log="python")
        return [entry.line.message.rpartition(": ")[2] for entry in entries]

    logs.append(JOB, 1, MASTER, [make_line(1, "x" * LIMIT)])
    written = replace(make_line(0), log="python")
    for _ in range(4):
        logs.write(JOB, 1, MASTER, [written, written], above=7)
    assert told_of_written() == ["2 lines", "4 lines", "8 lines"]
    assert [e.line.sequence for e in logs.tail(JOB, 1, MASTER, 9, log="python")] == [9, 11, 15]
    logs.append(JOB, 1, MASTER, [make_line(2)])
    assert told(logs) == ["1 line"]
    assert logs.size(JOB) < LIMIT + 4000


def test_empty_lines_count_as_full_ones_do(logs: FileLogs) -> None:
    for start in range(1, 40_001, 1000):
        logs.append(JOB, 1, MASTER, [make_line(n, "") for n in range(start, start + 1000)])
    assert LIMIT <= logs.size(JOB) < 2 * LIMIT
    assert told(logs)


def test_a_log_that_was_deleted_begins_anew(logs: FileLogs) -> None:
    logs.append(JOB, 1, MASTER, [make_line(1, "x" * LIMIT)])
    logs.append(JOB, 1, MASTER, [make_line(2)])
    logs.delete(JOB)
    logs.append(JOB, 1, MASTER, [make_line(1, "new")])
    assert [entry.line.message for entry in logs.read(JOB).entries] == ["new"]
