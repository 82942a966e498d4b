"""Reads cloudml-hypertune's file: a JSON object a line, rewritten with every report.

It keeps the last 100. Values are texts, as Python writes numbers: ``nan`` and ``inf``, too.
"""

from __future__ import annotations

import json
import os

from footplate.replica.metrics.safe_open import read_piece, stamp

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Callable

    Take = Callable[[str, int, float, float, str], None]
    """Gets tag, step, value, time and source of a measurement."""

SOURCE = "hypertune"
MOST_BYTES = 1 << 20
"""The limit; of a larger file only the end is read."""
MOST_LINES = 5000
MOST_LINE_BYTES = 16384
"""Longer ones are passed over."""
_INFINITY = float("inf")
_RESERVED = frozenset(("timestamp", "trial", "global_step", "checkpoint_path"))


class HypertuneFile:
    """The file of cloudml-hypertune. It reports each measurement once, by time, step and tag, even
    if the file repeats it.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._stamp: tuple[int, int, int] | None = None
        self._known: set[tuple[float, int, str]] = set()

    def look(self, take: Take, *, anyway: bool = False) -> None:
        """Reads the file if it has changed; with ``anyway``, even if it seems unchanged.

        Two changes within one tick of the file system's clock look like one.
        """
        try:
            status = os.lstat(self._path)
        except OSError:  # it is looked at again
            return
        if stamp(status) == self._stamp and not anyway:
            return
        self._stamp = stamp(status)
        data = read_piece(self._path, MOST_BYTES, max(0, status.st_size - MOST_BYTES))
        found: set[tuple[float, int, str]] = set()
        for line in data.split(b"\n")[-MOST_LINES:]:
            self._read_line(line, found, take)
        self._known |= found
        if len(self._known) > 2 * MOST_LINES:
            self._known = found

    def _read_line(self, line: bytes, found: set[tuple[float, int, str]], take: Take) -> None:
        report = _parse(line)
        time = _finite(report.get("timestamp"))
        step = int(_finite(report.get("global_step")))
        for tag in report.keys() - _RESERVED:
            value = _number(report[tag])
            key = (time, step, tag)
            if value is None or len(found) >= 2 * MOST_LINES:
                continue
            if key not in self._known and key not in found:
                take(tag, step, value, time, SOURCE)
            found.add(key)


def _parse(line: bytes) -> dict[str, Any]:
    """Returns the report in a line; {} if the line is no report, or not yet complete."""
    if not line or len(line) > MOST_LINE_BYTES:
        return {}
    try:
        value = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def _finite(value: object) -> float:
    """Returns the value if it is a finite number, else 0."""
    number = _number(value)
    return number if number is not None and abs(number) < _INFINITY else 0.0
