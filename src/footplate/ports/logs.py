"""The logs port: stores log lines in order of arrival.

The lines of all trials of a tuning job are in one log, that of the tuning job. Who writes there is
a replica in an attempt of a trial's run; in all other logs the trial is empty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from footplate.domain.log_lines import EVERYTHING, Entry, Line, Reading

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from footplate.domain.log_lines import Screen
    from footplate.domain.names import JobUid

__all__ = ["Entry", "Line", "Logs", "Reading"]


class Logs(Protocol):
    """The log. At-least-once in, exactly-once out: the sequence number is stored with the line."""

    def append(
        self, uid: JobUid, attempt: int, replica: str, lines: Sequence[Line], trial: str = ""
    ) -> None:
        """Keeps those lines whose sequence is above the last one kept of this writer.

        When it returns the lines outlive the death of this process at any instruction. Torn
        writes of an earlier death are cut off, never doubled, never merged with a new line.
        A log may have a bound: what goes over is left out, and a line says how much.

        Raises:
            Unavailable: they could not be kept (disk full); send them again.
        """
        ...

    def write(
        self,
        uid: JobUid,
        attempt: int,
        replica: str,
        lines: Sequence[Line],
        trial: str = "",
        above: int = 0,
    ) -> None:
        """Keeps what a replica's program has written over the API, each line in the log it names.

        Whatever number a line has, it gets the next one of those that the replica has used for
        that log, above ``above``. As to all else it is kept as appended lines are.

        Raises:
            Unavailable: some could not be kept (disk full).
            InvalidArgument: the job's programs have written to too many logs.
        """
        ...

    def read(
        self, uid: JobUid, cursor: int = 0, limit: int = 1000, screen: Screen = EVERYTHING
    ) -> Reading:
        """Reads at most ``limit`` entries after ``cursor`` (0: the beginning), in order of arrival.

        There may be fewer, so that no reading takes much memory; none only at the end. The
        cost depends on ``limit``, not on what lies before or after. With a ``screen`` only what
        it takes: it may have to read on for long, and stops after some MiB.
        """
        ...

    def read_back(
        self,
        uid: JobUid,
        cursor: int | None = None,
        limit: int = 1000,
        screen: Screen = EVERYTHING,
    ) -> Reading:
        """Reads as ``read`` does, but those before ``cursor`` (None: the end), the latest first."""
        ...

    def size(self, uid: JobUid) -> int:
        """Returns the cursor after the last entry; cursors grow evenly with what is kept."""
        ...

    def align(self, uid: JobUid, position: int) -> int:
        """Returns the first cursor at or after ``position``; the size where there is none."""
        ...

    def seek(self, uid: JobUid, time: datetime) -> int:
        """Returns the cursor before the first entry whose timestamp is ``time`` or later."""
        ...

    def span(self, uid: JobUid) -> tuple[datetime, datetime] | None:
        """Returns the timestamps of the first and of the last entry; None: there are no entries."""
        ...

    def names(self, uid: JobUid) -> frozenset[str]:
        """Returns the replicas that have printed something, and the logs programs wrote to."""
        ...

    def watch(self, uid: JobUid, changed: Callable[[], None]) -> Callable[[], None]:
        """Makes the log call ``changed``, on any thread, after each append; it must not block.

        Returns what ends that.
        """
        ...

    def wake(self, uid: JobUid) -> None:
        """Calls the watchers though there is no new line: the job has changed (it has ended)."""
        ...

    def tail(
        self, uid: JobUid, attempt: int, replica: str, count: int, trial: str = "", log: str = ""
    ) -> tuple[Entry, ...]:
        """Returns the last ``count`` entries that a replica printed, or wrote to ``log``."""
        ...

    def delete(self, uid: JobUid) -> None:
        """Drops all of a job; does nothing for an unknown one."""
        ...

    def close(self) -> None: ...
