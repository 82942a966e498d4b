"""The end that was asked for: it comes as soon as no job is active any more."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from footplate.domain.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable

_CHECK_S = 0.1


class Draining:
    """``active`` says which jobs are; it raises Unavailable while nobody knows."""

    def __init__(self, active: Callable[[], object], check_s: float = _CHECK_S) -> None:
        self._active = active
        self._check_s = check_s
        self.drained: Callable[[], None] = lambda: None
        """Called when no job is active any more, on a thread of its own."""

    def begin(self) -> None:
        """Returns at once."""
        threading.Thread(target=self._wait, name="drain", daemon=True).start()

    def _wait(self) -> None:
        while not self._idle():
            time.sleep(self._check_s)
        self.drained()

    def _idle(self) -> bool:
        try:
            return not self._active()
        except Unavailable:  # the database is away: nobody knows, so wait on
            return False
