"""The control loop: a thread that processes changes, and sleeps until woken or due."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from footplate.domain.errors import NotLeading

BACKSTOP_S = 60.0
"""A pass that nobody asked for; no job waits for it."""
RECOVERY_S = 2.0
"""Rest after a pass that failed (database away, disk full)."""

_log = logging.getLogger(__name__)


class Loop:
    """The loop of a control thread; submits, reports and exits wake it: it never polls.

    ``step`` does one pass, and returns the seconds until the next pass is due without a wake-up,
    None if none is.
    """

    def __init__(
        self, step: Callable[[], float | None], name: str, woken: threading.Event | None = None
    ) -> None:
        """Prepares the thread; ``woken`` wakes the loop, even before the loop exists."""
        self._step = step
        self._name = name
        self._woken = threading.Event() if woken is None else woken
        self._closed = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        """Makes the loop run a pass now; thread-safe and idempotent."""
        self._woken.set()

    def close(self) -> None:
        self._closed = True
        self._woken.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while True:
            self._woken.clear()
            if self._closed:  # asked only now: what is set from here on isn't cleared any more
                return
            self._woken.wait(self._try())

    def _try(self) -> float:
        try:
            due = self._step()
        except NotLeading:  # the new leader continues; this loop is about to be closed
            return RECOVERY_S
        except Exception:
            _log.exception("a pass of the %s loop failed; the server tries again", self._name)
            return RECOVERY_S
        return BACKSTOP_S if due is None else max(0.0, min(due, BACKSTOP_S))
