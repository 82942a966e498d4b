"""The services that only the leader runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.control.control_loop import Loop

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.control.cycle import Cycle
    from footplate.control.exports import Exports
    from footplate.control.hang_detection import HangWatch
    from footplate.control.reconciler import Reconciler
    from footplate.control.tuning.tuner import Tuner
    from footplate.domain.names import AttemptId, JobUid
    from footplate.ports.backend import Backend
    from footplate.server.orphaned_containers import OrphanedContainers


class LeaderServices:
    """Everything in it was made for it: it knows nothing of earlier terms, whosever they were.

    ``close`` comes once, also after a ``start`` that failed.
    """

    def __init__(
        self, backend: Backend, leads: Callable[[], bool], leftovers: OrphanedContainers
    ) -> None:
        """``leads``: whether the term lasts still. No pass begins after it."""
        self._backend = backend
        self._leftovers = leftovers
        self._leads = leads
        self._control: Loop
        self._tuning: Loop
        self._exporting: Loop
        self._exports: Exports
        self._tuner: Tuner
        self._reconciler: Reconciler
        self.hangs: HangWatch

    def join(
        self,
        control: Cycle,
        reconciler: Reconciler,
        hangs: HangWatch,
        tuner: Tuner,
        exports: Exports,
    ) -> None:
        """The parts, which have to know the term that they are of."""
        self.hangs = hangs
        self._reconciler = reconciler
        self._tuner = tuner
        self._control = Loop(self._while_leading(control.step), "control")
        self._tuning = Loop(self._while_leading(tuner.step), "tuning")
        self._exports = exports
        self._exporting = Loop(self._while_leading(exports.step), "exports")

    def start(self) -> None:
        """Load existing jobs, then follow every change."""
        self._backend.watch(self._seen)
        self._control.start()
        self._tuning.start()
        self._exporting.start()
        self._leftovers.start()

    def close(self) -> None:
        """Stop following. Jobs keep running."""
        self._leftovers.close()
        self._exports.close()
        self._exporting.close()
        self._tuning.close()
        self._control.close()
        self._backend.close()

    def wake(self) -> None:
        """There is something to do with jobs."""
        self._control.wake()

    def look_at(self, uid: JobUid) -> None:
        """There may be something to do with a job that nothing was written to."""
        self._reconciler.changed(uid)
        self.wake()

    def _seen(self, attempt_id: AttemptId) -> None:
        """The backend sees something else of an attempt than before."""
        self._reconciler.seen(attempt_id)
        self.wake()

    def wake_tuner(self) -> None:
        self._tuning.wake()

    def wake_exports(self) -> None:
        """There may be files of models to copy."""
        self._exporting.wake()

    def begin_search(self, uid: JobUid) -> None:
        """There is a new tuning job or pipeline."""
        self._tuner.begin(uid)

    def changed(self, uid: JobUid) -> None:
        """Something was written to a job."""
        self._reconciler.changed(uid)
        self._tuner.changed(uid)

    def refresh(self) -> None:
        """Anything may have been written unheard."""
        self._reconciler.refresh()
        self._tuner.refresh()
        self.wake_exports()
        self.wake()

    def _while_leading(self, step: Callable[[], float | None]) -> Callable[[], float | None]:
        return lambda: step() if self._leads() else None
