"""One control cycle over all jobs: reconcile, admit, start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.control.reconciler import earliest

if TYPE_CHECKING:
    from footplate.control.admission import Admission
    from footplate.control.reconciler import Reconciler


class Cycle:
    """Reconciles before it admits, so that room that has come free is seen, and again after, so
    that what was admitted starts.
    """

    def __init__(self, admission: Admission, reconciler: Reconciler) -> None:
        self._admission = admission
        self._reconciler = reconciler

    def step(self) -> float | None:
        """Returns in how many seconds the next is due for its own sake, if ever."""
        due = self._reconciler.reconcile()
        if self._admission.admit():
            due = self._reconciler.reconcile()
        return earliest((due, self._admission.seconds_to_due()))
