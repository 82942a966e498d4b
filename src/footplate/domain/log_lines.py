"""A log line, as reported, stored and read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from footplate.domain.jobs import Job

RESTART_SPAN = 1 << 40
"""What a replica reports after its restart number N is numbered above N times this."""


def restart_of(sequence: int) -> int:
    """The restart within the attempt that a report with this number belongs to."""
    return (sequence - 1) // RESTART_SPAN


@dataclass(frozen=True)
class Line:
    """One line as a supervisor reports it.

    ``sequence`` counts everything that the replica reports in this attempt, from 1, ascending,
    with gaps where other reports lie between, and a wide one before each restart. ``time`` is when
    the program printed it.
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
    """A line as it is kept.

    ``timestamp`` is its time of arrival, in microseconds, later than that of the entry before
    it in the same log, whatever the clock does; ``insert_id`` is unique within the log, of fixed
    width, and sorts in the order of arrival. ``cursor`` continues after the entry.
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
    """The properties of wanted lines. Empty fields ask for nothing.

    ``contains`` is casefolded; ``severities`` are names, of which a line has one.
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
    """Returns whether an entry of the log that holds the job's lines is the job's own."""
    return job.tuning_job is None or entry.trial == job.spec.trial


@dataclass(frozen=True)
class Reading:
    """Entries, and the cursor that continues after them in the direction of the reading.

    A reading with a screen may have no entries and yet have come further than it began.
    """

    entries: tuple[Entry, ...]
    cursor: int
