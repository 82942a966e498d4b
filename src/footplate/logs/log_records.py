"""The records of a log file: JSON lines, with checkpoints between them.

An entry is a list: its timestamp (of fixed width, so that a search needs no more than the
beginning of a line), attempt, replica, sequence, the program's time, severity, message, payload,
the offset of the entry before it of the same writer (-1: none), and, in the log of a tuning job,
the number of the trial.

A checkpoint is ``#`` and a list: for each writer (attempt and replica, at the end perhaps a trial)
its last sequence so far and the offset of that entry. It is never the last line: it is written
with the entries after it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from footplate.domain.log_lines import Entry, Line

if TYPE_CHECKING:
    from collections.abc import Mapping

CHECKPOINT = b"#"
_ENTRY = b'["'
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Writer(NamedTuple):
    """Who reports: a replica in an attempt; ``trial`` is empty but in the log of a tuning job."""

    attempt: int
    replica: str
    trial: str = ""


@dataclass(frozen=True)
class LastEntry:
    """The last entry of one writer."""

    sequence: int
    offset: int


@dataclass(frozen=True)
class Checkpoint:
    """What appending needs to know of all that lies before."""

    lasts: Mapping[Writer, LastEntry]


@dataclass(frozen=True)
class Record:
    """An entry with the offset of the one before it of the same writer."""

    entry: Entry
    previous: int


def encode_record(timestamp: datetime, writer: Writer, line: Line, previous: int) -> bytes:
    """As the encoder would spell the whole list; but texts by themselves cost it a quarter."""
    trial = f",{_encode(writer.trial)}" if writer.trial else ""
    text = (
        f'["{_spell(timestamp)}",{writer.attempt},{_encode(writer.replica)},{line.sequence},'
        f'"{_spell(line.time)}",{_encode(line.severity)},{_encode(line.message)},'
        f"{_encode(line.payload)},{previous}{trial}]\n"
    )
    return text.encode("utf-8", "replace")


def encode_text(text: str) -> bytes:
    """As it stands in a record, between quotes."""
    return _bytes(text)


def decode_record(text: bytes, offset: int) -> Record | None:
    """The entry that ``text`` at ``offset`` is; None for anything else."""
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
            *trial,
        ) = json.loads(text)
        line = Line(sequence, _time(printed), severity, message, payload)
        cursor = offset + len(text) + 1
        entry = Entry(_time(arrival), f"{offset:016x}", attempt, replica, line, cursor, *trial)
    except (ValueError, TypeError):
        return None
    return Record(entry, previous)


def encode_checkpoint(checkpoint: Checkpoint) -> bytes:
    rows = [
        (attempt, replica, last.sequence, last.offset, *([trial] if trial else []))
        for (attempt, replica, trial), last in checkpoint.lasts.items()
    ]
    return CHECKPOINT + _bytes(rows) + b"\n"


def decode_checkpoint(text: bytes) -> Checkpoint | None:
    """The checkpoint that ``text`` is; None for anything else."""
    if not text.startswith(CHECKPOINT):
        return None
    try:
        rows = json.loads(text[1:])
        return Checkpoint(
            {Writer(a, r, *trial): LastEntry(sequence, at) for a, r, sequence, at, *trial in rows}
        )
    except (ValueError, TypeError):
        return None


def spelled_timestamp(text: bytes) -> bytes | None:
    """The timestamp at the beginning of an entry, comparable to ``spell_timestamp``'s."""
    return text[2:29] if text.startswith(_ENTRY) else None


def spell_timestamp(time: datetime) -> bytes:
    return _spell(time).encode()


def _spell(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _bytes(value: object) -> bytes:
    return _encode(value).encode("utf-8", "replace")
