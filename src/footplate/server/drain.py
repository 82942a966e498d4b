"""Drains the server: shuts down once no job is active."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from footplate.domain.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable

_CHECK_S = 0.1


class Drain:
    """Waits for the end of all jobs. ``active`` returns the number of active jobs, or raises
    Unavailable.

    ``drained`` is called on a thread of its own when no job is active.
    """

    def __init__(
        self, active: Callable[[], object], drained: Callable[[], None], check_s: float = _CHECK_S
    ) -> None:
        self._active = active
        self._drained = drained
        self._check_s = check_s

    def begin(self) -> None:
        """Starts waiting in the background."""
        threading.Thread(target=self._wait, name="drain", daemon=True).start()

    def _wait(self) -> None:
        while not self._idle():
            time.sleep(self._check_s)
        self._drained()

    def _idle(self) -> bool:
        try:
            return not self._active()
        except Unavailable:  # the database is not reachable: the state is unknown, so keep waiting
            return False
