"""Keeps errors that repeat from filling the server's log."""

from __future__ import annotations

import logging
import threading
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

WINDOW_S = 60.0
BURST = 5
"""So many of a kind are logged in each window: a client that reports a crash has its id."""
_MOST_KINDS = 1000


def install(window_s: float = WINDOW_S) -> None:
    """Limits repeated records in the log of this process."""
    shown = RepeatedRecords(window_s)
    for handler in logging.root.handlers or filter(None, [logging.lastResort]):
        handler.addFilter(shown)


class RepeatedRecords(logging.Filter):
    """Passes a few records of each kind in a time window, then one that counts the rest.

    ``later`` calls a function after so many seconds.
    """

    def __init__(
        self,
        window_s: float = WINDOW_S,
        clock: Callable[[], float] = monotonic,
        later: Callable[[float, Callable[[], None]], None] | None = None,
    ) -> None:
        super().__init__()
        self._window_s = window_s
        self._clock = clock
        self._later = later or _start_timer
        self._lock = threading.Lock()
        self._kinds: dict[tuple[object, ...], tuple[float, int]] = {}
        """Since when, and how many."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.WARNING:
            return True
        kind, now = _kind(record), self._clock()
        with self._lock:
            since, count = self._kinds.get(kind, (now, 0))
            if now - since >= self._window_s:
                since, count = now, 0
            if len(self._kinds) >= _MOST_KINDS:
                self._kinds.clear()
            self._kinds[kind] = since, count + 1
        if count == BURST:
            self._later(self._window_s, lambda: self._report(kind, since, record))
        return count < BURST

    def _report(self, kind: tuple[object, ...], since: float, example: logging.LogRecord) -> None:
        with self._lock:
            found = self._kinds.pop(kind, (since, BURST))
        if found[0] == since:
            text, count = _first_line(example.getMessage()), found[1] - BURST
            logging.getLogger(example.name).log(
                example.levelno, "%d more in %d s like: %s", count, self._window_s, text
            )


def _kind(record: logging.LogRecord) -> tuple[object, ...]:
    """Returns a record's kind: logger, level, first line, and its error's type and place."""
    error = record.exc_info[1] if record.exc_info else None
    trace = error.__traceback__ if error else None
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = (trace.tb_frame.f_code.co_filename, trace.tb_lineno) if trace else ()
    return record.name, record.levelno, _first_line(str(record.msg)), type(error), place


def _first_line(text: str) -> str:
    """Returns the first line; in asyncio's records the rest names one connection or task."""
    return text.partition("\n")[0]


def _start_timer(after_s: float, call: Callable[[], None]) -> None:
    timer = threading.Timer(after_s, call)
    timer.daemon = True
    timer.start()
