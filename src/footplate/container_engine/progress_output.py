"""Writes progress and errors of a pull or build as JSON lines on standard output."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from typing import NoReturn

MESSAGE_INTERVAL_S = 1.0


class Reporter:
    """Prints progress, from any thread: messages that differ, at most about one a second."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = ""
        self._next = 0.0

    def say(self, message: str, *, at_once: bool = False) -> None:
        with self._lock:
            now = time.monotonic()
            if message == self._last or (now < self._next and not at_once):
                return
            self._last, self._next = message, now + MESSAGE_INTERVAL_S
            _write({"m": message})

    def fail(self, sentence: str) -> NoReturn:
        """Ends the process, whichever thread calls; no other line comes after this one."""
        with self._lock:
            _write({"error": sentence})
            os._exit(1)


def _write(document: dict[str, str]) -> None:
    try:
        sys.stdout.write(json.dumps(document, ensure_ascii=False) + "\n")
        sys.stdout.flush()
    except OSError:  # the reader is gone
        os._exit(1)
