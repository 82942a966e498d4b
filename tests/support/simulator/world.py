"""What outlives the service, and the service."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from footplate.control.admission import Admission
from footplate.control.cycle import Cycle
from footplate.control.job_queue import Queue
from footplate.control.reconciler import Reconciler
from footplate.control.regions import Binding, Regions
from footplate.control.replica_reports import Reports
from footplate.control.status import Status
from footplate.control.tokens import Tokens
from footplate.control.work_queue import WorkQueue
from footplate.domain.errors import Unavailable
from footplate.domain.job_states import State
from footplate.domain.quotas import Quota, Quotas
from footplate.domain.sites import Gpu, Mode, Site
from footplate.store import ObservedStore
from tests.support.backend import FakeBackend, led
from tests.support.catalogue import built_in
from tests.support.clock import FakeClock
from tests.support.crashes import Crash, CrashPoint, Fenced, be_away, mortal
from tests.support.logs import MemoryLogs
from tests.support.sites import make_engine_site, make_site
from tests.support.store import MemoryStore
from tests.support.usage import MemoryUsage

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.domain.jobs import Job
    from footplate.domain.names import AttemptId, JobUid
    from tests.support.simulator.supervisor import Supervisor

SITE = make_site(gpus=2)
"""Little of everything, so that jobs wait."""
OTHER_SITES = (
    replace(SITE, replicas=2),
    replace(SITE, gpus=SITE.gpus[:1]),
    replace(SITE, gpus=()),
    replace(SITE, mode=Mode.ENFORCE),
    make_engine_site(name=SITE.name),
    replace(SITE, mode=Mode.ENFORCE, gpus=(Gpu("0", "NVIDIA_TESLA_V100"), *SITE.gpus[1:])),
)
"""What other settings may make of the same machine."""
TIMEOUT_S = 600.0
GRACE_S = 60.0
"""Of evaluators, after the success of the primary."""
PROJECTS = ("demo", "ads", "narrow")
WRITES = ("create", "update", "append", "delete")
QUOTAS = Quotas((Quota("narrow", "*", {"jobs": 1}),))


def _ignore(_: JobUid) -> None: ...


@dataclass
class Service:
    """One life of the service: made anew after each death, remembering nothing."""

    round: Cycle
    queue: Queue
    store: ObservedStore
    reports: Reports
    status: Status


@dataclass
class World:
    clock: FakeClock = field(default_factory=FakeClock)
    store: MemoryStore = field(default_factory=MemoryStore)
    backend: FakeBackend = field(default_factory=FakeBackend)
    crash_point: CrashPoint = field(default_factory=CrashPoint)
    away: CrashPoint = field(default_factory=lambda: CrashPoint(be_away))
    """Where it is armed for, the database is away, and the service lives on."""
    site: Site = SITE
    """What the settings of the service's next life make of its machine."""
    takeovers: int = 0
    queues: list[Queue] = field(default_factory=list)
    reconcilers: list[Reconciler] = field(default_factory=list)
    sweep_s: float = math.inf
    """After how long a service looks at jobs of which it has heard nothing."""
    loses_messages: Callable[[], bool] = lambda: False
    """Asked for each piece of news for a reconciler; must say no where nothing sweeps."""
    has_other_settings: bool = False
    """Whether they ever were others than at first."""
    supervisors: dict[tuple[AttemptId, str], Supervisor] = field(default_factory=dict)
    history: list[Supervisor] = field(default_factory=list)
    """Every supervisor that ever lived."""

    def __post_init__(self) -> None:
        self.logs = MemoryLogs(self.clock.now)
        self.usage = MemoryUsage()
        self.visit = CrashPoint(self._meddle)
        """Where it is armed for, users label a job, and ask why others wait."""
        self.takeover = CrashPoint(self._take_over)
        """Where it is armed for, the leader stands still, another server leads and works, and then
        the old leader goes on as if nothing had happened."""
        self.meanwhile: Callable[[], object] = lambda: None
        """What happens while the old leader stands still."""
        self.epoch = 0
        self.be_reborn()

    def be_reborn(self, site: Site | None = None) -> None:
        """The service dies, wherever it is, and another one takes its place.

        ``site``: with other settings, for this life and all later ones.
        """
        self.site = site or self.site
        self.has_other_settings |= self.site is not SITE
        self.service = self._make()

    def _make(self) -> Service:
        self.epoch += 1
        store = ObservedStore(self._stored(self.store), self._changed, _ignore)
        fenced = Fenced(self.store, self.epoch, lambda: self.epoch, *WRITES)
        kept = mortal(cast("MemoryStore", fenced), self.takeover, *WRITES, "active", "get_by_uid")
        leads = ObservedStore(self._stored(kept), self._changed, _ignore)
        logs = mortal(self.logs, self.crash_point, "append")
        effects = ("start", "stop", "forget")
        backend = mortal(led(self.backend, self.epoch), self.crash_point, *effects)
        backend = mortal(backend, self.takeover, *effects)
        regions = Regions(Binding(backend, self.site))
        queue = Queue(
            store, regions, built_in(), TIMEOUT_S, self.clock, lambda: QUOTAS, self.sweep_s
        )
        self.queues.append(queue)
        admission = Admission(leads, queue, regions, built_in(), self.clock)
        tokens, work_queue = Tokens(b"key"), WorkQueue(self.sweep_s)
        reconciler = Reconciler(
            leads, regions, built_in(), self.clock, tokens, GRACE_S, None, work_queue
        )
        self.reconcilers.append(reconciler)
        self.backend.crash()
        self.backend.watch(self._seen)
        return Service(
            Cycle(admission, reconciler),
            queue,
            store,
            Reports(store, logs, self.usage, self.clock, lambda: None),
            Status(store, self.clock, lambda: None),
        )

    def _stored(self, store: MemoryStore) -> MemoryStore:
        kept = mortal(mortal(store, self.crash_point, *WRITES), self.visit, *WRITES)
        return mortal(kept, self.away, *WRITES, "get", "get_by_uid", "active", "events")

    def _changed(self, uid: JobUid, job: Job | None) -> None:
        """Every server hears of it; those that don't lead any more, too."""
        for queue in self.queues[-2:]:
            queue.changed(uid, job)
        for reconciler in self.reconcilers[-2:]:
            if not self.loses_messages():
                reconciler.changed(uid, job)

    def _seen(self, attempt_id: AttemptId) -> None:
        for reconciler in self.reconcilers[-2:]:
            if not self.loses_messages():
                reconciler.seen(attempt_id)

    def _take_over(self) -> None:
        self.takeovers += 1
        self.be_reborn()
        self.meanwhile()

    def attempt(self, action: Callable[[Service], object]) -> bool:
        """Let the service do something; False: it died over it, and was born again, or failed."""
        try:
            action(self.service)
        except Crash:
            self.be_reborn()
            return False
        except Unavailable:
            return False
        return True

    def _meddle(self) -> None:
        waiting = self.store.active({State.QUEUED})
        for job in waiting[:1]:
            labels = (("visits", str(job.version)),)
            changed = replace(job, labels=labels, version=job.version + 1)
            self.service.store.update(changed, ())
        for job in waiting:
            self.service.queue.explain(job)
