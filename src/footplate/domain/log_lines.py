"""A log line, as reported, stored and read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from footplate.domain.jobs import Job

RESTART_SPAN = 1 << 40
"""What a replica reports after its restart number N is numbered above N times this."""


def restart_of(sequence: int) -> int:
    """Returns the restart within the attempt that a report with this number belongs to."""
    return (sequence - 1) // RESTART_SPAN


@dataclass(frozen=True)
class Line:
    """One line as a supervisor reports it.

    ``sequence`` numbers all reports of the replica in this attempt, from 1. It ascends, with gaps
    where other reports lie between lines, and a wide gap before each restart. ``time`` is when the
    program printed the line.
    """

    sequence: int
    time: datetime
    severity: str
    """A severity of Cloud Logging: DEFAULT, DEBUG, INFO, NOTICE, WARNING, ERROR, CRITICAL..."""
    message: str
    payload: str = ""
    """The JSON object that the line was, where it was one; else empty."""
    log: str = ""
    """The id of the log that it was written to over Cloud Logging's API; empty: it was printed."""
    extra: str = ""
    """A JSON object: the other fields of what was written, such as its labels; else empty."""


@dataclass(frozen=True)
class Entry:
    """A stored log line.

    ``timestamp`` is when the line arrived, in microseconds; it is always later than that of the
    previous entry of the log, even if the clock is set back. ``insert_id`` is unique within the
    log, has a fixed width, and sorts in the order of arrival. ``cursor`` is the position after the
    entry, where a later reading continues.
    """

    timestamp: datetime
    insert_id: str
    attempt: int
    replica: str
    line: Line
    cursor: int = 0
    trial: str = ""
    """The number of the trial whose run printed it; empty: no trial did."""


@dataclass(frozen=True)
class Screen:
    """A filter for log lines; empty fields don't restrict anything.

    ``contains`` is casefolded; a line matches if its severity is any of ``severities``.
    """

    replica: str = ""
    attempt: int = 0
    severities: frozenset[str] = frozenset()
    contains: str = ""

    def takes(self, entry: Entry) -> bool:
        return (
            self.replica in ("", entry.replica)
            and self.attempt in (0, entry.attempt)
            and (not self.severities or entry.line.severity in self.severities)
            and self.contains in entry.line.message.casefold()
        )


EVERYTHING = Screen()


def belongs(entry: Entry, job: Job) -> bool:
    """Returns whether an entry belongs to the job, whose tuning job's log may hold its lines."""
    return job.tuning_job is None or entry.trial == job.spec.trial


@dataclass(frozen=True)
class Reading:
    """The entries of one reading, and the cursor for continuing in the same direction.

    With a filter a reading may have no entries, and yet a cursor beyond its beginning.
    """

    entries: tuple[Entry, ...]
    cursor: int
