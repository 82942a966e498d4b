"""The thread that follows every change: admit, reconcile, sleep until woken or due."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from footplate.control.reconciler import earliest

if TYPE_CHECKING:
    from footplate.control.admission import Admission
    from footplate.control.reconciler import Reconciler

BACKSTOP_S = 60.0
"""A pass that nobody asked for; no job waits for it."""
RECOVERY_S = 2.0
"""Rest after a pass that failed (database away, disk full)."""

_log = logging.getLogger(__name__)


class Loop:
    """Woken by submits, reports and exits; it never polls on the path of a job."""

    def __init__(self, admission: Admission, reconciler: Reconciler) -> None:
        self._admission = admission
        self._reconciler = reconciler
        self._woken = threading.Event()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="control", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        """Something has changed: see to it now. Safe on any thread, any number of times."""
        self._woken.set()

    def close(self) -> None:
        self._closed = True
        self._woken.set()
        if self._thread.is_alive():
            self._thread.join()

    def step(self) -> float | None:
        """One pass; returns in how many seconds the next is due for its own sake, if ever.

        Reconciles before it admits, so that room that has come free is seen, and again after,
        so that what was admitted starts.
        """
        due = self._reconciler.reconcile()
        if self._admission.admit():
            due = self._reconciler.reconcile()
        return earliest((due, self._admission.seconds_to_due()))

    def _run(self) -> None:
        while True:
            self._woken.clear()
            if self._closed:  # asked only now: what is set from here on isn't cleared any more
                return
            self._woken.wait(self._try())

    def _try(self) -> float:
        try:
            due = self.step()
        except Exception:
            _log.exception("a pass of the control loop failed; it is tried again")
            return RECOVERY_S
        return BACKSTOP_S if due is None else max(0.0, min(due, BACKSTOP_S))
