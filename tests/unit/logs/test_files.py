"""What logs in files hold on to, and what they don't."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from footplate.domain.errors import InvalidArgument
from footplate.domain.names import JobUid
from footplate.logs.files import FileLogs
from footplate.logs.journal import MAX_LOGS, READING_BYTES
from tests.support.logs_contract import (
    JOB,
    MASTER,
    START,
    WORKER,
    SettableClock,
    make_line,
    make_lines,
)


def open_descriptors(directory: Path) -> int:
    targets = (os.path.realpath(link) for link in Path("/proc/self/fd").iterdir())
    return sum(target.startswith(str(directory)) for target in targets)


def test_thousands_of_jobs_keep_few_files_open(tmp_path: Path) -> None:
    logs = FileLogs(tmp_path, SettableClock().now, open_files=8)
    uids = [JobUid(f"job{number}") for number in range(2000)]
    for uid in uids:
        logs.append(uid, 1, MASTER, make_lines(1, 2))
    assert open_descriptors(tmp_path) == 8
    for uid in uids:
        logs.append(uid, 1, MASTER, make_lines(1, 3))
    assert {len(logs.read(uid).entries) for uid in uids} == {3}
    logs.close()
    assert open_descriptors(tmp_path) == 0


def test_reading_makes_no_files(tmp_path: Path) -> None:
    logs = FileLogs(tmp_path, SettableClock().now)
    logs.read(JOB)
    logs.delete(JOB)
    logs.close()
    assert list(tmp_path.iterdir()) == []


def test_lines_are_for_their_owner_only(tmp_path: Path) -> None:
    logs = FileLogs(tmp_path / "logs", SettableClock().now)
    logs.append(JOB, 1, MASTER, make_lines(1, 1))
    logs.close()
    assert (tmp_path / "logs").stat().st_mode & 0o077 == 0
    assert (tmp_path / "logs" / f"{JOB}.jsonl").stat().st_mode & 0o077 == 0


def test_a_directory_that_was_removed_is_made_again(tmp_path: Path) -> None:
    logs = FileLogs(tmp_path / "logs", SettableClock().now)
    (tmp_path / "logs").rmdir()
    logs.append(JOB, 1, MASTER, make_lines(1, 1))
    assert len(logs.read(JOB).entries) == 1
    logs.close()


@pytest.mark.parametrize("uid", ["../up", "a/b", "", "a\n", "x" * 200])
def test_a_uid_that_could_leave_the_directory_is_refused(tmp_path: Path, uid: str) -> None:
    logs = FileLogs(tmp_path, SettableClock().now)
    with pytest.raises(InvalidArgument):
        logs.append(JobUid(uid), 1, MASTER, make_lines(1, 1))
    logs.close()


def test_one_reading_is_bounded_in_bytes(tmp_path: Path) -> None:
    logs = FileLogs(tmp_path, SettableClock().now)
    size = 60_000
    lines = [make_line(n, "x" * size) for n in range(1, 201)]
    logs.append(JOB, 1, MASTER, lines)
    forward, back = logs.read(JOB), logs.read_back(JOB)
    for reading in (forward, back):
        assert len(reading.entries) <= READING_BYTES // size + 1
    cursor, count = 0, 0
    while (reading := logs.read(JOB, cursor)).entries:
        cursor, count = reading.cursor, count + len(reading.entries)
    assert count == 200
    logs.close()


def test_delete_while_others_read_and_write(tmp_path: Path) -> None:
    logs = FileLogs(tmp_path, SettableClock().now, open_files=1)
    logs.append(JOB, 1, MASTER, make_lines(1, 50))
    stop, failures = threading.Event(), list[BaseException]()

    def use() -> None:
        number = 1
        while not stop.is_set():
            try:
                logs.append(JOB, 1, MASTER, [make_line(number)])
                logs.read(JOB)
                logs.read_back(JOB)
                logs.append(JobUid("another"), 1, MASTER, [make_line(number)])
            except BaseException as error:
                failures.append(error)
                raise
            number += 1

    threads = [threading.Thread(target=use) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(100):
        logs.delete(JOB)
    stop.set()
    for thread in threads:
        thread.join()
    assert failures == []
    logs.close()
    assert open_descriptors(tmp_path) == 0


def test_a_job_has_only_so_many_logs(tmp_path: Path) -> None:
    logs = FileLogs(tmp_path, lambda: START)
    line = replace(make_line(0), log="first")
    logs.write(JOB, 1, MASTER, [line])
    for number in range(MAX_LOGS - 1):
        logs.write(JOB, 1, MASTER, [replace(line, log=f"log-{number}")])
    with pytest.raises(InvalidArgument, match="at most 100 logs"):
        logs.write(JOB, 1, MASTER, [replace(line, log="one-more")])
    logs.write(JOB, 1, WORKER, [line])
    logs.append(JOB, 1, WORKER, [make_line(1)])
    assert len(logs.names(JOB)) == MAX_LOGS + 1
    logs.close()
