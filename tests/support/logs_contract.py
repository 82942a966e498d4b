"""What every kind of logs must do; a test class derives from it and says how they are made."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from footplate.domain.errors import InvalidArgument
from footplate.domain.log_lines import Screen
from footplate.domain.names import JobUid
from footplate.ports.logs import Line
from tests.support.deadlines import EVENT_S

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from footplate.ports.logs import Entry, Logs

START = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
JOB = JobUid("0" * 32)
OTHER = JobUid("1" * 32)
MASTER = "master-replica-0"
WORKER = "worker-replica-0"
SECOND = timedelta(seconds=1)


class SettableClock:
    """A clock that the test moves, also backwards."""

    def __init__(self) -> None:
        self.time = START

    def now(self) -> datetime:
        return self.time


def make_line(sequence: int, message: str | None = None, payload: str = "") -> Line:
    text = f"line {sequence}" if message is None else message
    return Line(sequence, START - timedelta(seconds=30), "INFO", text, payload)


def make_lines(first: int, last: int) -> list[Line]:
    return [make_line(sequence) for sequence in range(first, last + 1)]


def make_written(log: str) -> Line:
    return replace(make_line(0, "written"), log=log)


def messages(entries: tuple[Entry, ...]) -> list[str]:
    return [entry.line.message for entry in entries]


class LogsContract(ABC):
    """The suite."""

    @abstractmethod
    def open_logs(self, directory: Path, now: Callable[[], datetime]) -> Logs: ...

    @pytest.fixture
    def clock(self) -> SettableClock:
        return SettableClock()

    @pytest.fixture
    def logs(self, tmp_path: Path, clock: SettableClock) -> Iterator[Logs]:
        logs = self.open_logs(tmp_path, clock.now)
        yield logs
        logs.close()

    def test_what_was_appended_is_read_as_it_was(self, logs: Logs) -> None:
        line = Line(7, START, "WARNING", 'ünïcode "quoted" \\ \t \r \x00 \u2028', '{"a": "ß"}')
        logs.append(JOB, 2, MASTER, [line])
        (entry,) = logs.read(JOB).entries
        assert (entry.timestamp, entry.attempt, entry.replica) == (START, 2, MASTER)
        assert entry.line == line

    def test_many_lines_in_one_message_stay_one_entry(self, logs: Logs) -> None:
        logs.append(JOB, 1, MASTER, [make_line(1, "a\nb\r\nc\n"), make_line(2, "")])
        assert messages(logs.read(JOB).entries) == ["a\nb\r\nc\n", ""]

    def test_a_screen_takes_what_it_asks_for_in_both_directions(self, logs: Logs) -> None:
        texts = ("Stra\u00dfe", "STRASSE", 'a "quoted" word', "none \\ at all", "ERROR")
        for number, text in enumerate(texts, 1):
            severity = "ERROR" if number % 2 else "INFO"
            line = Line(number, START, severity, text)
            logs.append(JOB, 1 + number // 4, MASTER if number < 3 else WORKER, [line])
        wanted: tuple[tuple[Screen, list[int]], ...] = (
            (Screen(contains="strasse"), [0, 1]),
            (Screen(contains='"quoted'), [2]),
            (Screen(contains="\\ at"), [3]),
            (Screen(contains="\u00df".casefold()), [0, 1]),
            (Screen(severities=frozenset(("ERROR",))), [0, 2, 4]),
            (Screen(replica=WORKER), [2, 3, 4]),
            (Screen(attempt=2), [3, 4]),
            (Screen(replica=WORKER, attempt=1, contains="word"), [2]),
            (Screen(contains="nothing"), []),
        )
        size = logs.size(JOB)
        for screen, expected in wanted:
            chosen = [texts[at] for at in expected]
            forward, back = logs.read(JOB, 0, 100, screen), logs.read_back(JOB, None, 100, screen)
            assert messages(forward.entries) == chosen, screen
            assert messages(back.entries) == chosen[::-1], screen
            assert (forward.cursor, back.cursor) == (size, 0)
            first = logs.read(JOB, 0, 1, screen)
            if chosen:
                rest = logs.read(JOB, first.cursor, 100, screen)
                assert messages(first.entries + rest.entries) == chosen

    def test_half_a_surrogate_pair_harms_nothing(self, logs: Logs) -> None:
        logs.append(JOB, 1, MASTER, [make_line(1, "\ud800"), make_line(2)])
        assert messages(logs.read(JOB).entries)[1] == "line 2"

    def test_what_comes_again_is_kept_once(self, logs: Logs) -> None:
        logs.append(JOB, 1, MASTER, make_lines(1, 3))
        logs.append(JOB, 1, MASTER, make_lines(1, 3))
        logs.append(JOB, 1, MASTER, make_lines(2, 5))
        logs.append(JOB, 1, MASTER, [make_line(9), make_line(9), make_line(8)])
        expected = [f"line {n}" for n in (1, 2, 3, 4, 5, 9)]
        assert messages(logs.read(JOB).entries) == expected

    def test_each_replica_and_attempt_counts_for_itself(self, logs: Logs) -> None:
        for attempt, replica in ((1, MASTER), (1, WORKER), (2, MASTER)):
            logs.append(JOB, attempt, replica, make_lines(1, 2))
            logs.append(JOB, attempt, replica, make_lines(1, 2))
        entries = logs.read(JOB).entries
        assert [(e.attempt, e.replica, e.line.sequence) for e in entries] == [
            (attempt, replica, sequence)
            for attempt, replica in ((1, MASTER), (1, WORKER), (2, MASTER))
            for sequence in (1, 2)
        ]

    def test_each_trial_counts_for_itself(self, logs: Logs) -> None:
        for trial in ("1", "2", "10", ""):
            logs.append(JOB, 1, MASTER, make_lines(1, 2), trial)
            logs.append(JOB, 1, MASTER, make_lines(1, 2), trial)
        entries = logs.read(JOB).entries
        assert [(e.trial, e.line.sequence) for e in entries] == [
            (trial, sequence) for trial in ("1", "2", "10", "") for sequence in (1, 2)
        ]
        assert logs.read_back(JOB).entries == entries[::-1]

    def test_jobs_are_apart(self, logs: Logs) -> None:
        logs.append(JOB, 1, MASTER, [make_line(1, "one")])
        logs.append(OTHER, 1, MASTER, [make_line(1, "two")])
        assert messages(logs.read(JOB).entries) == ["one"]
        assert messages(logs.read(OTHER).entries) == ["two"]

    def test_order_shows_in_timestamps_and_insert_ids(
        self, logs: Logs, clock: SettableClock
    ) -> None:
        for step, replica in enumerate([MASTER, WORKER] * 10):
            clock.time = START + SECOND * (-1) ** step * step
            logs.append(JOB, 1, replica, make_lines(step * 20, step * 20 + 11))
        entries = logs.read(JOB).entries
        for before, after in pairwise(entries):
            assert before.timestamp < after.timestamp
            assert before.insert_id < after.insert_id
            assert len(before.insert_id) == len(after.insert_id)

    def test_reading_goes_on_where_it_stopped(self, logs: Logs) -> None:
        logs.append(JOB, 1, MASTER, make_lines(1, 10))
        seen, cursor = [], 0
        while (reading := logs.read(JOB, cursor, 3)).entries:
            seen += messages(reading.entries)
            cursor = reading.cursor
            assert reading.entries[-1].cursor == cursor
        assert seen == messages(logs.read(JOB).entries)
        logs.append(JOB, 1, MASTER, [make_line(11)])
        assert messages(logs.read(JOB, cursor).entries) == ["line 11"]

    def test_reading_goes_on_after_any_entry(self, logs: Logs) -> None:
        logs.append(JOB, 1, MASTER, make_lines(1, 10))
        for number, entry in enumerate(logs.read(JOB).entries, start=1):
            rest = [f"line {n}" for n in range(number + 1, 11)]
            assert messages(logs.read(JOB, entry.cursor).entries) == rest

    def test_reading_back_is_reading_reversed(self, logs: Logs) -> None:
        logs.append(JOB, 1, MASTER, make_lines(1, 10))
        seen: list[str] = []
        cursor = None
        while (reading := logs.read_back(JOB, cursor, 3)).entries:
            seen += messages(reading.entries)
            cursor = reading.cursor
        assert seen[::-1] == messages(logs.read(JOB).entries)
        assert cursor == 0

    def test_any_position_is_near_a_cursor(self, logs: Logs) -> None:
        logs.append(JOB, 1, MASTER, make_lines(1, 10))
        entries = logs.read(JOB).entries
        size = logs.size(JOB)
        assert size == entries[-1].cursor
        cursors = {0, *(entry.cursor for entry in entries)}
        assert {logs.align(JOB, position) for position in range(size + 1)} == cursors
        assert (logs.align(JOB, -5), logs.align(JOB, size + 99)) == (0, size)
        for cursor in cursors:
            assert logs.align(JOB, cursor) == cursor

    def test_no_lines_are_read_as_none(self, logs: Logs) -> None:
        assert logs.read(JOB).entries == ()
        assert logs.read_back(JOB).entries == ()
        assert logs.tail(JOB, 1, MASTER, 5) == ()
        assert logs.seek(JOB, START) == 0
        assert logs.size(JOB) == logs.align(JOB, 7) == 0
        assert logs.span(JOB) is None
        assert logs.names(JOB) == frozenset()
        logs.delete(JOB)

    @pytest.mark.parametrize("cursor", [-1, 10**12])
    def test_a_cursor_that_nobody_gave_is_refused(self, logs: Logs, cursor: int) -> None:
        for _ in range(2):
            with pytest.raises(InvalidArgument, match="cursor"):
                logs.read(JOB, cursor)
            with pytest.raises(InvalidArgument, match="cursor"):
                logs.read_back(JOB, cursor)
            logs.append(JOB, 1, MASTER, [make_line(1)])

    def test_seek_finds_the_first_entry_of_a_time_or_later(
        self, logs: Logs, clock: SettableClock
    ) -> None:
        for number in range(1, 40):
            clock.time = START + number * SECOND
            logs.append(JOB, 1, MASTER, [make_line(number, "x" * (number * 37 % 300))])
        entries = logs.read(JOB).entries
        for index, entry in enumerate(entries):
            for earlier in (timedelta(0), SECOND / 2):
                cursor = logs.seek(JOB, entry.timestamp - earlier)
                assert logs.read(JOB, cursor).entries == entries[index:]
        end = logs.seek(JOB, entries[-1].timestamp + SECOND)
        assert logs.read(JOB, end).entries == ()
        assert logs.seek(JOB, datetime(1, 1, 1, tzinfo=UTC)) == 0

    def test_tail_is_of_one_replica_in_one_attempt(self, logs: Logs) -> None:
        for number in range(1, 8):
            logs.append(JOB, 1, MASTER, [make_line(number, f"m{number}")])
            logs.append(JOB, 1, WORKER, [make_line(number, f"w{number}")])
        logs.append(JOB, 2, MASTER, [make_line(1, "again")])
        assert messages(logs.tail(JOB, 1, MASTER, 3)) == ["m5", "m6", "m7"]
        assert messages(logs.tail(JOB, 1, WORKER, 100)) == [f"w{n}" for n in range(1, 8)]
        assert messages(logs.tail(JOB, 2, MASTER, 1)) == ["again"]
        assert logs.tail(JOB, 2, WORKER, 1) == ()
        assert logs.tail(JOB, 1, MASTER, 0) == ()

    def test_tail_is_of_one_trial(self, logs: Logs) -> None:
        for number in range(1, 6):
            logs.append(JOB, 1, MASTER, [make_line(number, f"one {number}")], "1")
            logs.append(JOB, 1, MASTER, [make_line(number, f"two {number}")], "2")
        assert messages(logs.tail(JOB, 1, MASTER, 2, "1")) == ["one 4", "one 5"]
        assert messages(logs.tail(JOB, 1, MASTER, 100, "2")) == [f"two {n}" for n in range(1, 6)]
        assert logs.tail(JOB, 1, MASTER, 1, "3") == ()
        assert logs.tail(JOB, 1, MASTER, 1) == ()

    def test_the_span_is_from_the_first_entry_to_the_last(
        self, logs: Logs, clock: SettableClock
    ) -> None:
        logs.append(JOB, 1, MASTER, [make_line(1, "x" * 300_000)])
        assert logs.span(JOB) == (START, START)
        clock.time = START + SECOND
        logs.append(JOB, 1, WORKER, [make_line(1), make_line(2, "x" * 300_000)])
        entries = logs.read(JOB, 0, 10).entries + logs.read(JOB, logs.read(JOB).cursor).entries
        assert logs.span(JOB) == (START, entries[-1].timestamp)
        assert logs.span(OTHER) is None

    def test_the_names_are_of_all_who_have_entries(self, logs: Logs) -> None:
        for attempt, replica in ((1, MASTER), (2, MASTER), (2, WORKER)):
            logs.append(JOB, attempt, replica, [make_line(1)])
        logs.append(OTHER, 1, "other", [make_line(1)])
        logs.write(JOB, 2, MASTER, [make_written("python")])
        assert logs.names(JOB) == {MASTER, WORKER, "python"}

    def test_what_is_written_is_numbered_for_each_replica_and_log(self, logs: Logs) -> None:
        logs.append(JOB, 1, MASTER, make_lines(5, 6))
        logs.write(JOB, 1, MASTER, [make_written("python"), make_written("python")])
        logs.write(JOB, 1, MASTER, [make_written("other"), make_written("python")], above=100)
        logs.write(JOB, 1, WORKER, [make_written("python")], "3")
        logs.append(JOB, 1, MASTER, make_lines(6, 7))
        entries = logs.read(JOB).entries
        assert [(e.replica, e.trial, e.line.log, e.line.sequence) for e in entries] == [
            (MASTER, "", "", 5),
            (MASTER, "", "", 6),
            (MASTER, "", "python", 1),
            (MASTER, "", "python", 2),
            (MASTER, "", "other", 101),
            (MASTER, "", "python", 101),
            (WORKER, "3", "python", 1),
            (MASTER, "", "", 7),
        ]
        tail = logs.tail(JOB, 1, MASTER, 2, log="python")
        assert [entry.line.sequence for entry in tail] == [2, 101]
        assert [e.line.sequence for e in logs.tail(JOB, 1, MASTER, 9)] == [5, 6, 7]
        assert logs.tail(JOB, 1, WORKER, 9, "3") == ()

    def test_what_was_written_is_read_as_it_was(self, logs: Logs) -> None:
        line = replace(
            make_written("a/b-c"), payload='{"a": 1}', extra='{"labels": {"k": "\u00fc"}}'
        )
        logs.write(JOB, 1, MASTER, [line])
        (entry,) = logs.read(JOB).entries
        assert entry.line == replace(line, sequence=1)

    def test_writers_to_one_log_at_the_same_time_share_its_numbers(self, logs: Logs) -> None:
        def write() -> None:
            for _ in range(50):
                logs.write(JOB, 1, MASTER, [make_written("python")])

        threads = [threading.Thread(target=write) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(EVENT_S)
        numbers = [entry.line.sequence for entry in logs.read(JOB).entries]
        assert numbers == list(range(1, 201))

    def test_watchers_are_told_until_they_leave(self, logs: Logs) -> None:
        told: list[str] = []
        leave = logs.watch(JOB, lambda: told.append("changed"))
        logs.append(OTHER, 1, MASTER, [make_line(1)])
        assert told == []
        logs.append(JOB, 1, MASTER, [make_line(1)])
        logs.wake(JOB)
        assert told == ["changed", "changed"]
        leave()
        logs.append(JOB, 1, MASTER, [make_line(2)])
        assert len(told) == 2

    def test_delete_leaves_nothing(self, logs: Logs) -> None:
        logs.append(JOB, 1, MASTER, make_lines(1, 3))
        logs.append(OTHER, 1, MASTER, make_lines(1, 3))
        logs.delete(JOB)
        logs.delete(JOB)
        assert logs.read(JOB).entries == ()
        assert len(logs.read(OTHER).entries) == 3
        logs.append(JOB, 1, MASTER, [make_line(1, "new")])
        assert messages(logs.read(JOB).entries) == ["new"]

    def test_writers_at_the_same_time_keep_their_order(self, logs: Logs) -> None:
        def write(replica: str) -> None:
            for number in range(1, 51):
                logs.append(JOB, 1, replica, make_lines(number, number + 1))

        replicas = [f"worker-replica-{index}" for index in range(4)]
        threads = [threading.Thread(target=write, args=(replica,)) for replica in replicas]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(EVENT_S)
        entries = logs.read(JOB).entries
        for replica in replicas:
            own = [entry.line.sequence for entry in entries if entry.replica == replica]
            assert own == list(range(1, 52))
