"""The logs port: stores log lines in order of arrival.

The lines of all trials of a tuning job are in one log, that of the tuning job. Who writes there is
a replica in an attempt of a trial's run; in all other logs the trial is empty.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

from footplate.domain.log_lines import EVERYTHING, Entry, Line, Reading, Screen
from footplate.domain.names import JobUid

__all__ = ["Entry", "Line", "Logs", "Reading"]


class Logs(Protocol):
    """The logs of jobs; repeated lines are stored once, by their sequence number."""

    def append(
        self, uid: JobUid, attempt: int, replica: str, lines: Sequence[Line], trial: str = ""
    ) -> None:
        """Stores the lines whose sequence is above the last stored one of this replica.

        Once it returns, the lines survive a crash of this process at any point. Incomplete writes
        of an earlier crash are removed, and never merged with a new line. A log may have a limit:
        lines above it are left out, and a line says how many.

        Raises:
            Unavailable: the lines could not be stored (disk full); send them again.
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
        """Stores what a program has written over the API, each line in the log that it names.

        Each line gets the next number after those that the replica has used for that log, and above
        ``above``, instead of its own. Otherwise the lines are stored like appended ones.

        Raises:
            Unavailable: some lines could not be stored (disk full).
            InvalidArgument: the job's programs have written to too many logs.
        """
        ...

    def read(
        self, uid: JobUid, cursor: int = 0, limit: int = 1000, screen: Screen = EVERYTHING
    ) -> Reading:
        """Reads at most ``limit`` entries after ``cursor`` (0: the beginning), in order of arrival.

        The result may have fewer entries, to limit memory; it is empty only at the end. The cost
        depends on ``limit``, not on the length of the log. With a ``screen`` only matching entries
        are returned: the search may be long, and stops after some MiB.
        """
        ...

    def read_back(
        self,
        uid: JobUid,
        cursor: int | None = None,
        limit: int = 1000,
        screen: Screen = EVERYTHING,
    ) -> Reading:
        """Reads like ``read``, but backwards from before ``cursor`` (None: the end)."""
        ...

    def size(self, uid: JobUid) -> int:
        """Returns the cursor after the last entry; cursors grow with the stored data."""
        ...

    def align(self, uid: JobUid, position: int) -> int:
        """Returns the first cursor at or after ``position``; the size if there is none."""
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
        """Calls ``changed``, on any thread, after each append; it must not block.

        Returns a function that ends this.
        """
        ...

    def wake(self, uid: JobUid) -> None:
        """Calls the watchers without a new line, because the job has changed or ended."""
        ...

    def tail(
        self, uid: JobUid, attempt: int, replica: str, count: int, trial: str = "", log: str = ""
    ) -> tuple[Entry, ...]:
        """Returns the last ``count`` entries that a replica printed, or wrote to ``log``."""
        ...

    def delete(self, uid: JobUid) -> None:
        """Deletes the log of a job; does nothing for an unknown one."""
        ...

    def close(self) -> None: ...
