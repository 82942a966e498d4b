"""Bounds the log of a job: what goes over is counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from footplate.domain.log_lines import Line
from footplate.logs.log_records import Writer

_INTERVAL = timedelta(minutes=1)


@dataclass(frozen=True)
class _LeftOut:
    """The lines of a writer that were left out.

    ``told`` of them are counted in the log's last line about them, from the time ``at``.
    """

    lines: int
    last: int
    """The sequence of the last one."""
    told: int
    at: datetime


class LogLimit:
    """The lines left out of a log that has reached its limit.

    The file exceeds the limit by a report and a notice at most.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._left_out: dict[Writer, _LeftOut] = {}

    def last(self, writer: Writer) -> int:
        """Returns the sequence of the writer's last line that was left out; 0: none was."""
        found = self._left_out.get(writer)
        return 0 if found is None else found.last

    def count(
        self, writer: Writer, fresh: Sequence[Line], last: int, now: datetime
    ) -> Sequence[Line]:
        """Counts ``fresh`` lines as left out, and returns the lines that are stored instead.

        ``last`` is the sequence of the writer's last stored line. A stored line says how many were
        left out: at once, each time that the number has doubled, and each minute.
        """
        found = self._left_out.get(writer)
        sequence = last if found is None else max(last, found.last)
        over = [line for line in fresh if line.sequence > sequence]
        if over:
            lines = len(over) + (0 if found is None else found.lines)
            told, at = (0, now - _INTERVAL) if found is None else (found.told, found.at)
            found = _LeftOut(lines, over[-1].sequence, told, at)
            self._left_out[writer] = found
        if found is None or found.lines == found.told:
            return ()
        if found.lines < 2 * found.told and now - found.at < _INTERVAL:
            return ()
        self._left_out[writer] = replace(found, told=found.lines, at=now)
        # It has the number of the last one: were that told again, nothing would follow from it.
        return () if found.last <= last else (self._describe(writer, found, now),)

    def _describe(self, writer: Writer, found: _LeftOut, now: datetime) -> Line:
        count = "1 line" if found.lines == 1 else f"{found.lines} lines"
        message = (
            f"Footplate: this job's log has reached its limit of {self._most_bytes >> 20} MiB "
            f"(setting log_limit_mb). Lines of this replica that the log leaves out: {count}"
        )
        return Line(found.last, now, "WARNING", message, log=writer.log)
