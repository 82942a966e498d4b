"""Whatever a death leaves in the file, everything is kept exactly once and in order."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from footplate.domain.errors import DataLoss, Unavailable
from footplate.logs.files import FileLogs
from footplate.logs.journal import Journal
from footplate.logs.log_records import Writer, writer_of
from tests.support.logs_contract import (
    JOB,
    MASTER,
    SECOND,
    START,
    WORKER,
    SettableClock,
    make_line,
    make_lines,
    messages,
)
from tests.support.profiles import scaled

CHECKPOINT_BYTES = 700
"""Small, so that short files have many."""
REPLICAS = (MASTER, WORKER)
WRITERS = tuple(Writer(1, replica) for replica in REPLICAS)

steps = st.lists(
    st.tuples(
        st.builds(
            Writer,
            st.integers(1, 2),
            st.sampled_from(REPLICAS),
            st.sampled_from(["", "1", "12"]),
            st.sampled_from(["", "python"]),
        ),
        st.integers(1, 4),
        st.text(alphabet='a\n#["\u20ac\x00', max_size=40),
        st.integers(-3, 3),
        st.one_of(st.none(), st.floats(0, 1)),
    ),
    max_size=25,
)


def open_journal(path: Path) -> Journal:
    return Journal(path, create=True, checkpoint_bytes=CHECKPOINT_BYTES)


@settings(max_examples=scaled(300), deadline=None)
@given(steps)
def test_a_crash_at_any_byte_of_any_write_loses_and_doubles_nothing(
    steps: list[tuple[Writer, int, str, int, float | None]],
) -> None:
    """``cut`` is how much of the step's write reached the file before the process died."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "log"
        journal, now = open_journal(path), START
        model: list[tuple[Writer, int, str]] = []
        sent: dict[Writer, int] = {}
        for writer, count, text, jump, cut in steps:
            first = sent.get(writer, 0) + 1
            numbers = range(first, first + count)
            lines = [replace(make_line(n, f"{n} {text}"), log=writer.log) for n in numbers]
            now += jump * SECOND
            before = journal.size
            journal.append(writer, lines, now)
            if cut is not None:
                journal.close()
                after = path.stat().st_size
                os.truncate(path, before + round(cut * (after - before)))
                journal = open_journal(path)
                journal.append(writer, lines, now)
            sent[writer] = first + count - 1
            model += [(writer, line.sequence, line.message) for line in lines]
        entries = journal.read(0, 10_000).entries
        kept = [(writer_of(e), e.line.sequence, e.line.message) for e in entries]
        assert kept == model
        assert all(a.timestamp < b.timestamp for a, b in pairwise(entries))
        assert journal.read_back(None, 10_000).entries == entries[::-1]
        for entry in entries:
            assert journal.seek(entry.timestamp) <= int(entry.insert_id, 16)
            assert journal.read(journal.seek(entry.timestamp), 1).entries == (entry,)
        for writer, last in sent.items():
            own = tuple(e for e in entries if writer_of(e) == writer)
            assert journal.tail(writer, last) == own
            assert not journal.append(writer, make_lines(1, last), now)
        journal.close()


def test_opening_reads_back_to_the_last_checkpoint_only(tmp_path: Path) -> None:
    path = tmp_path / "log"
    journal = open_journal(path)
    for number in range(1, 200):
        journal.append(WRITERS[number % 2], [make_line(number)], START)
    journal.append(Writer(2, MASTER), [make_line(1)], START)
    journal.close()
    content = path.read_bytes()
    checkpoint = content.rindex(b"\n#") + 1
    assert len(content) - checkpoint < 2 * CHECKPOINT_BYTES
    path.write_bytes(b"\n" * checkpoint + content[checkpoint:])
    journal = open_journal(path)
    for number in range(1, 200):
        assert not journal.append(WRITERS[number % 2], [make_line(number)], START)
    journal.close()


OLD_FILE = """\
["2026-01-02T03:04:05.678901Z",1,"master-replica-0",1,"2026-01-02T03:03:35.678901Z","INFO","one","",-1]
#[[1,"master-replica-0",1,0]]
["2026-01-02T03:04:05.678902Z",1,"worker-replica-0",1,"2026-01-02T03:03:35.678901Z","INFO","two","",-1]
"""


def test_a_file_from_before_there_were_trials_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(OLD_FILE)
    journal = open_journal(path)
    assert not journal.append(WRITERS[0], make_lines(1, 1), START)
    assert not journal.append(WRITERS[1], make_lines(1, 1), START)
    assert journal.append(Writer(1, MASTER, "1"), [make_line(1, "three")], START)
    entries = journal.read(0, 10).entries
    assert [(e.trial, e.line.message) for e in entries] == [
        ("", "one"),
        ("", "two"),
        ("1", "three"),
    ]
    journal.close()


@pytest.mark.parametrize("junk", [b"\x00" * 5000, b"\x00" * 300 + b"\n", b"#[[", b"#[]\n", b'["'])
def test_junk_after_a_power_loss_is_cut_off(tmp_path: Path, junk: bytes) -> None:
    path = tmp_path / "log"
    journal = open_journal(path)
    journal.append(WRITERS[0], make_lines(1, 3), START)
    journal.close()
    with path.open("ab") as file:
        file.write(junk)
    journal = open_journal(path)
    journal.append(WRITERS[0], make_lines(2, 5), START)
    assert messages(journal.read(0, 100).entries) == [f"line {n}" for n in range(1, 6)]
    journal.close()


def test_a_damaged_line_in_the_middle_hides_no_other(tmp_path: Path) -> None:
    path = tmp_path / "log"
    journal = open_journal(path)
    journal.append(WRITERS[0], make_lines(1, 5), START)
    entries = journal.read(0, 5).entries
    with path.open("r+b") as file:
        file.seek(entries[1].cursor + 3)
        file.write(b"\x00\x00")
    assert journal.read(0, 5).entries == (*entries[:2], *entries[3:])
    assert journal.read_back(None, 5).entries == (entries[4], entries[3], entries[1], entries[0])
    journal.close()


def test_a_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / f"{JOB}.jsonl"
    path.write_text("dear diary\n")
    logs = FileLogs(tmp_path, SettableClock().now)
    with pytest.raises(DataLoss, match="no log lines"):
        logs.append(JOB, 1, MASTER, make_lines(1, 1))
    logs.close()
    assert path.read_text() == "dear diary\n"


def test_timestamps_never_decrease_across_a_restart(tmp_path: Path) -> None:
    clock = SettableClock()
    for number in range(1, 4):
        logs = FileLogs(tmp_path, clock.now)
        logs.append(JOB, 1, MASTER, [make_line(number)])
        logs.close()
        clock.time -= 3600 * SECOND
    entries = logs.read(JOB).entries
    assert len(entries) == 3
    assert all(a.timestamp < b.timestamp for a, b in pairwise(entries))


@contextmanager
def largest_file(size_bytes: int) -> Iterator[None]:
    """A disk that is full, as far as this process's files go."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_on_a_full_disk_nothing_is_half_kept(tmp_path: Path) -> None:
    logs = FileLogs(tmp_path, SettableClock().now)
    logs.append(JOB, 1, MASTER, make_lines(1, 3))
    path = tmp_path / f"{JOB}.jsonl"
    content = path.read_bytes()
    for room in (0, 1, 150, 5000):
        lines = [make_line(n, "x" * 1000) for n in range(4, 20)]
        with (
            largest_file(len(content) + room),
            pytest.raises(Unavailable, match="can't store log lines"),
        ):
            logs.append(JOB, 1, MASTER, lines)
        assert path.read_bytes() == content
        assert len(logs.read(JOB).entries) == 3
    logs.append(JOB, 1, MASTER, lines)
    assert len(logs.read(JOB).entries) == 19
    logs.close()


APPEND_FOREVER = """
import sys
from datetime import datetime, timezone
from pathlib import Path
from footplate.logs.files import FileLogs
from footplate.ports.logs import Line

first, now = int(sys.argv[2]), lambda: datetime.now(timezone.utc)
logs = FileLogs(Path(sys.argv[1]), now)
while True:
    lines = [Line(n, now(), "INFO", "x" * 500) for n in range(first, first + 40)]
    logs.append("job", 1, "master-replica-0", lines)
    print(first + 39, flush=True)
    first += 40
"""


def test_what_was_acknowledged_outlives_kill_9(tmp_path: Path) -> None:
    from_sequence = 1
    for _ in range(4):
        command = [sys.executable, "-c", APPEND_FOREVER, str(tmp_path), str(from_sequence)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            acknowledged = [int(process.stdout.readline()) for _ in range(20)][-1]
            process.send_signal(signal.SIGKILL)
            rest = process.stdout.read().split()
        acknowledged = max([acknowledged, *map(int, rest)])
        journal = Journal(tmp_path / "job.jsonl", create=False)
        sequences: list[int] = []
        cursor = 0
        while (reading := journal.read(cursor, 1000)).entries:
            sequences += [entry.line.sequence for entry in reading.entries]
            cursor = reading.cursor
        journal.close()
        assert sequences == list(range(1, len(sequences) + 1))
        assert len(sequences) >= acknowledged
        from_sequence = acknowledged - 10
