"""One control cycle over all jobs: reconcile, admit, start."""

from __future__ import annotations

from footplate.control.admission import Admission
from footplate.control.reconciler import Reconciler, earliest


class Cycle:
    """One control cycle, which reconciles before and after it admits jobs.

    The first pass finds capacity that has become free, the second one starts the jobs that were
    admitted.
    """

    def __init__(self, admission: Admission, reconciler: Reconciler) -> None:
        self._admission = admission
        self._reconciler = reconciler

    def step(self) -> float | None:
        """Runs a cycle; returns the seconds until the next one is due anyway, None: never."""
        due = self._reconciler.reconcile()
        if self._admission.admit():
            due = self._reconciler.reconcile()
        return earliest((due, self._admission.seconds_to_due()))
