"""An in-memory view of all active jobs: waiting jobs, held resources, deadlines."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from itertools import chain, islice
from threading import Lock

from footplate.control.deadlines import Deadlines
from footplate.control.elapsed_time import as_of
from footplate.control.regions import Regions
from footplate.control.reserved_machines import ReservedMachines
from footplate.domain.admission import Claim, Explanation, Scheduler
from footplate.domain.admission.claims import claim_of, make_claim
from footplate.domain.catalogue import Catalogue
from footplate.domain.clock_history import JUMP_S
from footplate.domain.errors import DataLoss, NotFound
from footplate.domain.job_states import State
from footplate.domain.jobs import Job, JobSpec
from footplate.domain.names import JobUid, PersistentResourceName
from footplate.domain.persistent_resources import PersistentResource, resource_of
from footplate.domain.preview.alternatives import variations
from footplate.domain.quotas import Quotas
from footplate.domain.resources import Amounts
from footplate.domain.sites.gpu_assignment import assign, held_with
from footplate.ports.clock import SteadyClock
from footplate.ports.store import Store

MOST_CHANGED = 10_000
"""Changes that nobody has asked for; after more of them all is seen anew."""
MOST_KEPT = 1_000
"""Changed jobs that are kept until they are asked for; of more of them each is read."""
SWEEP_S = 60.0
"""After so long all active jobs are read again: any message about a change may be lost."""
SWEEP_LOAD = 20
"""Reading them all takes at most one in so many seconds."""
_NOBODY = JobUid("")


class Queue:
    """A mirror of the store's jobs, made at first use and then updated by ``changed``.

    It remembers nothing that the store doesn't hold: a server that starts after a crash builds the
    same queue. Each change costs a read of one job, however many wait; every ``SWEEP_S`` all are
    read again, so that a lost message can't stall a job. Any thread may call it.
    """

    def __init__(
        self,
        store: Store,
        regions: Regions,
        catalogue: Catalogue,
        patience_s: float,
        clock: SteadyClock,
        quotas: Callable[[], Quotas] = Quotas,
        sweep_s: float = SWEEP_S,
        resources: Callable[[], Iterable[PersistentResource]] = tuple,
    ) -> None:
        """Creates an empty queue.

        ``quotas`` returns the quotas in force, ``resources`` all persistent resources. Both are
        called at first use, after they changed, and every ``sweep_s``.
        """
        self._store = store
        self._regions = regions
        self._catalogue = catalogue
        self._clock = clock
        self._quotas = quotas
        self._resources = resources
        self._patience_s = patience_s
        self._lock = Lock()
        self._empty()
        self._ahead = timedelta()
        """How far the clock had been set when all was seen."""
        self._sweep_s = sweep_s
        self._sweep_at = math.inf
        """The next sweep, in seconds on the scale that doesn't jump."""
        self._changed: dict[JobUid, Job | None] = {}
        """The jobs as they were written last; None: the job must be read."""
        self._quotas_changed = True
        self._resources_changed = True
        self._anew = False
        # Apart from `_lock`, which is held during a whole scheduling cycle: `changed` is called
        # after each write of a job, and must not wait that long.
        self._changed_lock = Lock()

    def _empty(self) -> None:
        """Resets the queue to its empty state."""
        capacity = {site.name: site.capacity for site in self._regions.sites()}
        self._scheduler = Scheduler(capacity, Quotas(), self._patience_s)
        self._reserved = ReservedMachines(self._scheduler, self._regions, self._catalogue)
        self._provisioned: list[PersistentResourceName] = []
        self._devices: dict[str, dict[JobUid, tuple[str, ...]]] = {}
        """The devices of jobs, by site."""
        self._waits = Deadlines()
        self._new: dict[JobUid, None] = {}
        self._versions: dict[JobUid, int] = {}
        """The versions of the active jobs that this queue holds."""
        self._loaded = False

    def changed(self, uid: JobUid, job: Job | None = None) -> None:
        """Marks a job whose record in the store may have changed; never blocks for long.

        ``job`` is the job as it was written, so that it needn't be read; None: it must be read.
        """
        with self._changed_lock:
            self._mark(uid, job)
            if len(self._changed) > MOST_CHANGED:
                self._anew = True
                self._changed.clear()

    def _mark(self, uid: JobUid, job: Job | None) -> None:
        before = self._changed.get(uid, job)
        if before is None or job is None or len(self._changed) >= MOST_KEPT:
            self._changed[uid] = None
        elif job.version >= before.version:  # writers may notify in another order than they wrote
            self._changed[uid] = job

    def refresh(self) -> None:
        """Makes the queue read all records and quotas again; never blocks for long."""
        with self._changed_lock:
            self._anew = True
            self._changed.clear()

    def quotas_changed(self) -> None:
        """Makes the queue read the quotas again; never blocks for long."""
        with self._changed_lock:
            self._quotas_changed = True

    def resources_changed(self) -> None:
        """Makes the queue read persistent resources again; never blocks for long."""
        with self._changed_lock:
            self._resources_changed = True

    def admit(self) -> tuple[JobUid, ...]:
        """Takes the jobs that may start now; the caller reports failed starts with ``changed``."""
        with self._lock:
            self._load()
            started, waited = self._scheduler.admit(self._now()), self._reserved.waiting()
            self._provisioned += [waited[uid] for uid in started if uid in waited]
            return tuple(uid for uid in started if uid not in waited)

    def take_provisioned(self) -> tuple[PersistentResourceName, ...]:
        """Returns the persistent resources for which ``admit`` found machines, and forgets them.

        The caller must record that they have their machines, and call ``resources_changed``.
        """
        with self._lock:
            taken, self._provisioned = tuple(self._provisioned), []
            return taken

    def explain_resource(self, name: PersistentResourceName) -> Explanation | None:
        """Returns why the persistent resource waits for machines; None if it doesn't."""
        with self._lock:
            self._load()
            return self._reserved.explain(name, self._now())

    def used_of(self, name: PersistentResourceName) -> Amounts:
        """Returns the machines of the persistent resource that jobs hold, by kind."""
        with self._lock:
            self._load()
            return self._reserved.used(name)

    def assign(self, job: Job) -> Mapping[str, tuple[str, ...]] | None:
        """Returns GPUs for the replicas of a job that may start; None if there are too few.

        The caller must store the GPUs of one job before it asks for those of the next.
        """
        site = self._regions.site(job.spec.region)
        with self._lock:
            self._load()
            held = frozenset(chain.from_iterable(self._devices.get(site.name, {}).values()))
            return assign(job.spec, self._catalogue, site, held)

    def held_gpus(self) -> Mapping[str, frozenset[str]]:
        """Returns the ids of the GPUs that jobs hold, by site."""
        with self._lock:
            self._load()
            return {
                site: frozenset(chain.from_iterable(of_site.values()))
                for site, of_site in self._devices.items()
            }

    def take_expired(self) -> tuple[JobUid, ...]:
        """Returns the jobs whose waiting time is over, and forgets them."""
        with self._lock:
            self._load()
            return self._waits.take_due(self._now())

    def seconds_to_due(self) -> float | None:
        """Returns the seconds until the next job's waiting time is over; None: no limits."""
        with self._lock:
            moment = self._waits.next()
        return None if moment is None else moment - self._now()

    def untold(self, limit: int) -> tuple[JobUid, ...]:
        """Returns waiting jobs without a recorded reason, at most ``limit``, in order."""
        with self._lock:
            return tuple(islice(self._new, limit))

    def told(self, uid: JobUid) -> None:
        with self._lock:
            self._new.pop(uid, None)

    def explain(self, job: Job) -> Explanation | None:
        """Returns why the job waits; None if it doesn't."""
        if job.state is not State.QUEUED or not job.spec.runs_itself:
            return None
        with self._lock:
            self._load()
            arrived = as_of(self._clock.now(), job, self._clock).create_time.timestamp()
            others = self._others(job.uid, job.name.job_id, job.name.project, job.spec, arrived)
            return self._scheduler.explain(job.uid, self._now(), others)

    def outlook(self, spec: JobSpec, project: str) -> Explanation | None:
        """Returns why a job of this spec would wait if it came now; None if it would start."""
        now = self._now()
        site = self._regions.site(spec.region)
        claim = make_claim(_NOBODY, "this job", project, spec, now, site, self._catalogue)
        with self._lock:
            self._load()
            if self._scheduler.would_start(claim, now):
                return None
            self._scheduler.wait(claim)
            try:
                others = self._others(_NOBODY, claim.name, project, spec, now)
                return self._scheduler.explain(_NOBODY, now, others)
            finally:
                self._scheduler.leave(_NOBODY)

    def held(self, project: str, region: str) -> Amounts:
        """Returns the amounts that count against the quota of the project in the region."""
        with self._lock:
            self._load()
            return self._scheduler.held(project, region)

    def held_of(self, site: str) -> Amounts:
        """Returns the amounts of the site that jobs and persistent resources hold."""
        with self._lock:
            self._load()
            return self._scheduler.held_of(site)

    def _others(
        self, uid: JobUid, name: str, project: str, spec: JobSpec, arrived: float
    ) -> Iterator[tuple[str, Claim]]:
        """Yields claims that the job could make instead, with descriptions, most similar first."""
        for words, other in variations(spec, self._catalogue):
            site = self._regions.site(other.region)
            if site.engine is not None and other.region != spec.region:
                continue  # nobody knows whether it would start there
            yield words, make_claim(uid, name, project, other, arrived, site, self._catalogue)

    def _now(self) -> float:
        return self._clock.now().timestamp()

    def _notice_jump(self) -> None:
        """Reloads all jobs after a jump of the clock."""
        now = self._clock.now()
        ahead = now - self._clock.steady(now)
        if abs(ahead - self._ahead).total_seconds() >= JUMP_S:
            self._ahead = ahead
            # The times of claims were shifted (`as_of`) to what the clock showed when they were
            # read.
            self._loaded = False

    def _load(self) -> None:
        """Reads the changes since the last call; the first call reads everything."""
        self._notice_jump()
        with self._changed_lock:
            changed, self._changed = self._changed, {}
            anew, self._anew = self._anew, False
            quotas_changed, self._quotas_changed = self._quotas_changed or anew, False
            resources_changed, self._resources_changed = self._resources_changed or anew, False
        try:
            if anew:
                self._empty()
            sweep = not self._loaded or self._steady_now() >= self._sweep_at
            if quotas_changed or sweep:
                self._scheduler.set_quotas(self._quotas())
            if resources_changed or sweep:
                self._reserved.see(self._resources())
            if sweep:
                self._read_all()
            for uid in sorted(changed):
                self._inspect(uid, changed[uid])
        except BaseException:
            # What was taken above must not be lost with the error, for no second notification
            # comes. Only `anew` needs no repair: `_empty` has reset `_loaded`, so the next call
            # reads everything anyway.
            with self._changed_lock:
                for uid, job in changed.items():
                    self._mark(uid, job)
                self._quotas_changed |= quotas_changed
                self._resources_changed |= resources_changed
            raise

    def _read_all(self) -> None:
        begin = self._steady_now()
        active = self._store.active()
        for job in active:
            self._see(job)
        # If the notification of a job's end or deletion was lost, the job is missing in `active`,
        # but would hold its resources here for ever. Claims of persistent resources have no record
        # of a job.
        known = self._scheduler.known() - self._reserved.uids()
        for uid in known - {job.uid for job in active}:
            self._inspect(uid)
        end = self._steady_now()
        self._sweep_at = end + max(self._sweep_s, SWEEP_LOAD * (end - begin))
        self._loaded = True

    def _steady_now(self) -> float:
        return self._clock.steady(self._clock.now()).timestamp()

    def _inspect(self, uid: JobUid, job: Job | None = None) -> None:
        try:
            if job is None or not self._is_news(job):
                job = self._store.get_by_uid(uid)
            self._see(job)
        except NotFound:
            self._forget(uid)
        except DataLoss:
            # It cannot start, so it must not delay other jobs. But its GPUs may be in use.
            if not any(uid in of_site for of_site in self._devices.values()):
                self._forget(uid)

    def _is_news(self, job: Job) -> bool:
        """Returns whether the job is later than what the queue holds of it.

        A notification may come late, even after the job's end: then it would hold machines here,
        or take its place in the queue, for as long as no other notification comes. So a job that
        the queue doesn't hold is read: it is new, or has ended.
        """
        return job.state.terminal or job.version > self._versions.get(job.uid, job.version)

    def _see(self, job: Job) -> None:
        if job.state.terminal or not job.spec.runs_itself:
            self._forget(job.uid)
            return
        self._versions[job.uid] = job.version
        job = as_of(self._clock.now(), job, self._clock)
        site = self._regions.site(job.spec.region)
        given = [device for replica in job.replicas for device in replica.devices]
        claim = claim_of(job, site, self._catalogue)
        if resource_of(job) is None:
            claim = replace(claim, holds=held_with(job.spec, given, self._catalogue, site))
        self._hold_devices(site.name, job.uid, given)
        if job.state is State.QUEUED:
            self._add_waiting(job, claim)
        else:
            self._forget_waiting(job.uid)
            self._scheduler.hold(claim, (job.start_time or job.update_time).timestamp())

    def _add_waiting(self, job: Job, claim: Claim) -> None:
        if not self._scheduler.is_waiting(job.uid):
            self._new[job.uid] = None
        self._scheduler.wait(claim)
        limit_s = job.spec.scheduling.max_wait_time_s
        if limit_s is not None:
            self._waits.put(job.uid, claim.arrived + limit_s)

    def _forget(self, uid: JobUid) -> None:
        self._versions.pop(uid, None)
        self._forget_waiting(uid)
        for site in self._devices:
            self._hold_devices(site, uid, ())
        self._scheduler.leave(uid)

    def _hold_devices(self, site: str, uid: JobUid, devices: Iterable[str]) -> None:
        held = tuple(devices)
        of_site = self._devices.setdefault(site, {})
        if held:
            of_site[uid] = held
        else:
            of_site.pop(uid, None)

    def _forget_waiting(self, uid: JobUid) -> None:
        self._waits.drop(uid)
        self._new.pop(uid, None)
