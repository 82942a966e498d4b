"""The records of a log file: JSON lines, with checkpoints between them.

An entry is a list: its timestamp (of fixed width, so that a search needs no more than the
beginning of a line), attempt, replica, sequence, the program's time, severity, message, payload,
the offset of the entry before it of the same writer (-1: none), and, in the log of a tuning job,
the number of the trial. What was written over the API has the number of a trial in any case,
which may be empty, and then the id of the log and the other fields.

A checkpoint is ``#`` and a list: for each writer (attempt and replica, at the end perhaps a trial,
and then perhaps the id of a log) its last sequence so far and the offset of that entry. It is
never the last line: it is written with the entries after it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from footplate.domain.log_lines import Entry, Line

CHECKPOINT = b"#"
_ENTRY = b'["'
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Writer(NamedTuple):
    """The source of reports: a replica in an attempt; only logs of tuning jobs have a ``trial``.

    Lines that a program writes to a log over the API have separate numbers from those that it
    prints.
    """

    attempt: int
    replica: str
    trial: str = ""
    log: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        """Returns the labels at the end of a record, without unnecessary ones."""
        return (self.trial, self.log) if self.log else (self.trial,) if self.trial else ()


def writer_of(entry: Entry) -> Writer:
    return Writer(entry.attempt, entry.replica, entry.trial, entry.line.log)


@dataclass(frozen=True)
class LastEntry:
    """The last entry of one writer."""

    sequence: int
    offset: int


@dataclass(frozen=True)
class Checkpoint:
    """The data about all earlier records that appending needs."""

    lasts: Mapping[Writer, LastEntry]


@dataclass(frozen=True)
class Record:
    """An entry, with the offset of the previous entry of the same writer."""

    entry: Entry
    previous: int


def encode_record(timestamp: datetime, writer: Writer, line: Line, previous: int) -> bytes:
    """Encodes a record as JSON; encoding its texts one by one takes a quarter of the time."""
    more = "".join(f",{_encode(each)}" for each in writer.labels)
    if line.log:
        more += f",{_encode(line.extra)}"
    text = (
        f'["{_spell(timestamp)}",{writer.attempt},{_encode(writer.replica)},{line.sequence},'
        f'"{_spell(line.time)}",{_encode(line.severity)},{_encode(line.message)},'
        f"{_encode(line.payload)},{previous}{more}]\n"
    )
    return text.encode("utf-8", "replace")


def encode_text(text: str) -> bytes:
    """Encodes a text as a record contains it, between quotes."""
    return _bytes(text)


def decode_record(text: bytes, offset: int) -> Record | None:
    """Decodes the entry in ``text`` at ``offset``; None: the text is something else."""
    if not text.startswith(_ENTRY):
        return None
    try:
        (
            arrival,
            attempt,
            replica,
            sequence,
            printed,
            severity,
            message,
            payload,
            previous,
            *more,
        ) = json.loads(text)
        line = Line(sequence, _time(printed), severity, message, payload, *more[1:])
        cursor = offset + len(text) + 1
        entry = Entry(_time(arrival), f"{offset:016x}", attempt, replica, line, cursor, *more[:1])
    except (ValueError, TypeError):
        return None
    return Record(entry, previous)


def encode_checkpoint(checkpoint: Checkpoint) -> bytes:
    rows = [
        (writer.attempt, writer.replica, last.sequence, last.offset, *writer.labels)
        for writer, last in checkpoint.lasts.items()
    ]
    return CHECKPOINT + _bytes(rows) + b"\n"


def decode_checkpoint(text: bytes) -> Checkpoint | None:
    """Decodes a checkpoint, the line with each writer's last entry so far; None: it is none."""
    if not text.startswith(CHECKPOINT):
        return None
    try:
        rows = json.loads(text[1:])
        return Checkpoint(
            {Writer(a, r, *more): LastEntry(sequence, at) for a, r, sequence, at, *more in rows}
        )
    except (ValueError, TypeError):
        return None


def spelled_timestamp(text: bytes) -> bytes | None:
    """Returns the timestamp of an entry, comparable to results of ``spell_timestamp``."""
    return text[2:29] if text.startswith(_ENTRY) else None


def spell_timestamp(time: datetime) -> bytes:
    return _spell(time).encode()


def _spell(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _bytes(value: object) -> bytes:
    return _encode(value).encode("utf-8", "replace")
