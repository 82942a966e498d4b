"""The audit log on disk."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from footplate.logs.audit import FileAuditLog
from footplate.ports.audit import AuditEntry


def entry(number: int) -> AuditEntry:
    time = datetime(2026, 1, 2, tzinfo=UTC)
    return AuditEntry(time, "create", f"jobs/{number}", "token", "", "curl", "127.0.0.1")


def numbers(log: FileAuditLog, size: int) -> list[int]:
    found: list[int] = []
    key: str | None = None
    while True:
        page = log.list(size, key)
        assert len(page.items) <= size
        found += [int(each.resource.rpartition("/")[2]) for each in page.items]
        if page.next_key is None:
            return found
        key = page.next_key


def test_nothing_is_listed_before_the_first_entry(tmp_path: Path) -> None:
    assert FileAuditLog(tmp_path / "audit").list(5).items == ()


@pytest.mark.parametrize("size", [1, 7, 2000])
def test_entries_are_listed_newest_first_by_pages(tmp_path: Path, size: int) -> None:
    log = FileAuditLog(tmp_path / "audit")
    for number in range(1000):  # more than one chunk
        log.add(entry(number))
    assert numbers(log, size) == [*range(999, -1, -1)]
    assert FileAuditLog(tmp_path / "audit").list(1).items == (entry(999),)


def test_the_oldest_entries_go_and_pages_go_on_where_they_were(tmp_path: Path) -> None:
    log = FileAuditLog(tmp_path / "audit", most_bytes=1000)
    for number in range(10):
        log.add(entry(number))
    page = log.list(2)
    log.add(entry(10))
    found = numbers(log, 3)
    assert found[0] == 10
    assert found == [*range(10, found[-1] - 1, -1)]
    assert [each.resource for each in log.list(1, page.next_key).items] == ["jobs/7"]
    for number in range(11, 50):
        log.add(entry(number))
    assert log.list(1, page.next_key).items == (), "it has gone"
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 2400


def test_what_was_not_written_to_its_end_is_passed_over(tmp_path: Path) -> None:
    log = FileAuditLog(tmp_path / "audit")
    log.add(entry(1))
    with (tmp_path / "audit").open("ab") as file:
        file.write(b'{"time": "20\n[]\n\n\xff\n')
    log.add(entry(2))
    with (tmp_path / "audit").open("ab") as file:
        file.write(b'{"time"')
    assert numbers(log, 1) == [2, 1]


def test_a_log_that_cannot_be_written_says_so_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    log = FileAuditLog(tmp_path / "missing" / "audit")
    log.add(entry(1))
    log.add(entry(2))
    assert caplog.text.count("the audit log can't be written") == 1


def test_fields_are_bounded_and_one_line(tmp_path: Path) -> None:
    log = FileAuditLog(tmp_path / "audit")
    long = AuditEntry(entry(1).time, "x\ny", "r" * 5000, "token", "", "\r\u2028", "")
    log.add(long)
    (found,) = log.list(2).items
    assert (found.action, len(found.resource), found.client) == ("x\ny", 1000, "\r\u2028")
