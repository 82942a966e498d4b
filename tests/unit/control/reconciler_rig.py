"""One job, its backend and its reconciler, in memory."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from footplate.control.job_updates import apply
from footplate.control.reconciler import Reconciler
from footplate.control.tokens import Tokens
from footplate.control.work_queue import WorkQueue
from footplate.domain.jobs import Address, Exit, ExitKind, Job, Scheduling
from footplate.domain.lifecycle import Admitted, ReplicaExited, ReplicaReady, ReplicaRunning
from footplate.store import ObservedStore
from tests.support.catalogue import built_in
from tests.support.clock import FakeClock
from tests.support.jobs import make_job, make_spec
from tests.support.sites import make_regions
from tests.support.store import MemoryStore

if TYPE_CHECKING:
    from footplate.domain.lifecycle import Event
    from footplate.domain.names import AttemptId, JobUid
    from tests.support.backend import FakeBackend

MASTER, WORKER = "master-replica-0", "worker-replica-0"
EVALUATOR = "evaluator-replica-0"
LIMIT_S = 60.0
GRACE_S = 40.0
NEVER = math.inf
LIMITS = Scheduling(max_running_time_s=LIMIT_S, max_wait_time_s=LIMIT_S)
OK, FAILED = Exit(ExitKind.EXITED, 0), Exit(ExitKind.EXITED, 1)


class Rig:
    """One job whose supervisors live, or that is only admitted; and a reconciler that may be
    made anew.

    The reconciler hears of all that happens, and looks at nothing else after its first pass,
    unless there is a ``sweep_s``.
    """

    def __init__(
        self,
        workers: int = 0,
        *,
        evaluators: int = 0,
        starts: bool = True,
        limits: Scheduling = LIMITS,
        sweep_s: float = NEVER,
    ) -> None:
        self.sweep_s = sweep_s
        self.deaf = False
        """Whether the reconciler hears of nothing."""
        self.clock = FakeClock()
        self.stored = MemoryStore()
        self.store = ObservedStore(self.stored, self._changed, lambda _: None)
        self.regions = make_regions()
        spec = make_spec(workers=workers, evaluators=evaluators, scheduling=limits)
        self.uid = make_job().uid
        self.restart()
        self.store.create(make_job(created=self.clock.now(), spec=spec), ())
        self.happen(Admitted(self.clock.now()))
        if starts:
            self.reconcile()
            self.backend.admit(self.job.attempt_id)

    @property
    def backend(self) -> FakeBackend:
        backend: FakeBackend = self.regions.default.backend  # type: ignore[assignment]  # it is one
        return backend

    @property
    def job(self) -> Job:
        return self.store.get_by_uid(self.uid)

    def restart(self) -> None:
        self.reconciler = Reconciler(
            self.store,
            self.regions,
            built_in(),
            self.clock,
            Tokens(b"key"),
            GRACE_S,
            work_queue=WorkQueue(self.sweep_s),
        )
        self.backend.crash()
        self.backend.watch(self._seen)

    def _changed(self, uid: JobUid, job: Job | None) -> None:
        if not self.deaf:
            self.reconciler.changed(uid, job)

    def _seen(self, attempt_id: AttemptId) -> None:
        if not self.deaf:
            self.reconciler.seen(attempt_id)

    def reconcile(self) -> float:
        return self.reconciler.reconcile()

    def happen(self, event: Event) -> None:
        apply(self.store, self.uid, event)

    def run(self, *others: str) -> None:
        for name in (MASTER, *others):
            address = Address("127.0.0.1", 4000)
            self.happen(ReplicaReady(self.clock.now(), 1, name, address))
        for name in (MASTER, *others):
            self.happen(ReplicaRunning(self.clock.now(), 1, name))

    def exit(self, end: Exit) -> None:
        self.happen(ReplicaExited(self.clock.now(), 1, MASTER, end))
        self.backend.end(self.job.attempt_id, MASTER)
