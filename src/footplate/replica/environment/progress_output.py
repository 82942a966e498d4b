"""Progress output of the command: one JSON object a line."""

from __future__ import annotations

import json
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, Mapping

_INTERVAL_S = 1.0


def say(value: Mapping[str, object]) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


class ProgressOutput:
    """Progress for the user. Counts are written at most once a second, and the last one always."""

    def __init__(
        self,
        write: Callable[[Mapping[str, object]], None] = say,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._write = write
        self._clock = clock
        self._next = 0.0
        self._last = ""

    def tell(self, message: str) -> None:
        if message != self._last:
            self._last = message
            self._write({"m": message})

    def count(self, what: str) -> Callable[[int, int], None]:
        """Returns a function that reports counts of packages of ``what``."""

        def progress(done: int, total: int) -> None:
            now = self._clock()
            if done == total or now >= self._next:
                self._next = now + _INTERVAL_S
                self.tell(f"{what}: {done} of {total} packages")

        return progress
