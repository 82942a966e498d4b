"""The services that only the leader runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from footplate.control.admission import Admission
from footplate.control.control_loop import Loop
from footplate.control.cycle import Cycle
from footplate.control.dataset_exports import DatasetExporter, DatasetExports
from footplate.control.datasets import read_dataset
from footplate.control.evaluations import Evaluations
from footplate.control.exports import Exports
from footplate.control.hang_detection import HangLimits, HangWatch
from footplate.control.job_deletion import JobDeletion
from footplate.control.job_lists import JobLists
from footplate.control.models import ModelRegistry
from footplate.control.pipeline_data import PipelineData
from footplate.control.reconciler import REPORT_GRACE_S, Reconciler
from footplate.control.regions import Binding, Regions
from footplate.control.resource_steps import ResourceSteps
from footplate.control.retention import Retention
from footplate.control.tracking import LogUploads
from footplate.control.tracking import Resources as TrackedResources
from footplate.control.work_queue import WorkQueue
from footplate.domain.jobs import Job
from footplate.domain.names import AttemptId, JobUid
from footplate.domain.retention import KEEP_ALL
from footplate.ports.backend import Backend
from footplate.ports.leases import Lease
from footplate.replica import kept_environments
from footplate.replica.environment.cache import Cache
from footplate.server.event_files import LocalEventFiles
from footplate.server.machine import RandomIds
from footplate.server.replica_services import ReplicaServices
from footplate.server.tuning_services import TuningServices

if TYPE_CHECKING:
    from footplate.server.context import ServiceContext
    from footplate.server.region_engines import RegionEngines
    from footplate.settings import Settings


class LeaderServices:
    """The services of one lease. They are created for each lease, and write only under it.

    ``close`` must be called once, even after a ``start`` that failed.
    """

    def __init__(
        self,
        context: ServiceContext,
        replicas: ReplicaServices,
        tuning: TuningServices,
        make_backend: Callable[[], Backend],
        engines: RegionEngines,
        lease: Lease,
        leads: Callable[[], bool],
    ) -> None:
        """Creates the services. ``leads`` returns whether this server still holds the lease.

        No pass begins once it doesn't.
        """
        # The queue outlives a lease, and must not begin this one with what it held during an
        # earlier one.
        context.queue.refresh()
        self.leads = leads
        self._control_woken, self._tuning_woken, self._exports_woken = Event(), Event(), Event()
        self._resources_woken, self._uploads_woken, self._datasets_woken = Event(), Event(), Event()
        self._loops: list[Loop] = []
        self._work_queue = WorkQueue()
        settings, clock, buckets = context.settings, context.clock, context.buckets
        fenced = context.database.fenced(lease)
        store = context.observed(fenced)
        bound = engines.bind(context.regions.bound, context.region_problems, context.region_facts)
        regions = Regions(Binding(make_backend(), context.site), bound)
        self._backends = regions.backends()
        self._leftovers = context.engine.leftovers()

        self.hangs = HangWatch(
            store, clock, _hang_limits(settings), REPORT_GRACE_S, replicas.stacks.tell, self.look_at
        )
        self._reconciler = Reconciler(
            store,
            regions,
            context.catalogue,
            clock,
            replicas.tokens,
            settings.evaluator_grace_s,
            self.hangs,
            self._work_queue,
            Evaluations(
                buckets, LocalEventFiles(settings.job_dir_roots), settings.evaluator_limit_s
            ),
        )
        resources = ResourceSteps(
            fenced.persistent_resources,
            store,
            KeptInCache(settings.cache),
            clock,
            self.wake,
            context.notifications.see_resources,
        )
        self._add_loop(resources.step, "resources", self._resources_woken)
        admission = Admission(
            store, context.queue, regions, context.catalogue, clock, resources.note_provisioned
        )
        cycle = Cycle(admission, self._reconciler)
        self._add_loop(cycle.step, "control", self._control_woken)

        registry = ModelRegistry(fenced.models, buckets, clock, RandomIds())
        self._pipeline_data = PipelineData(
            buckets,
            settings.shared_buckets,
            partial(read_dataset, fenced.tracking),
            leads,
            lambda uid: self._tuner.changed(uid),
        )
        self._tuner = tuning.make_tuner(
            store,
            fenced.studies,
            registry,
            self._pipeline_data,
            self.wake,
            self._tuning_woken.set,
        )
        self._add_loop(self._tuner.step, "tuning", self._tuning_woken)

        self._uploads = LogUploads(
            fenced.log_uploads,
            store,
            fenced.tracking,
            TrackedResources(fenced.tracking, clock, RandomIds()),
            LocalEventFiles(settings.job_dir_roots),
            buckets,
            clock,
        )
        self._add_loop(self._uploads.step, "log uploads", self._uploads_woken)

        self._exports = Exports(fenced.models, buckets, clock)
        self._add_loop(self._exports.step, "exports", self._exports_woken)

        self._dataset_exports = DatasetExports(
            fenced.tracking, DatasetExporter(buckets, settings.shared_buckets).export, clock
        )
        self._add_loop(self._dataset_exports.step, "dataset exports", self._datasets_woken)

        retention = Retention(
            store,
            JobLists(store),
            context.logs,
            JobDeletion(store, context.logs, context.usage, tuning.trials),
            settings.keep_jobs or KEEP_ALL,
            settings.keep_logs or KEEP_ALL,
            clock,
        )
        if settings.keep_jobs or settings.keep_logs:
            self._add_loop(retention.step, "retention", Event())

    def start(self) -> None:
        """Loads existing jobs, then reacts to every change."""
        for backend in self._backends:
            # Before the first pass: a change after its look at the backend would wait for the next
            # sweep.
            backend.watch(self._seen)
        for loop in self._loops:
            loop.start()
        self._leftovers.start()

    def close(self) -> None:
        """Stops all loops. Jobs keep running."""
        self._leftovers.close()
        # Before the loops: closing a loop waits for its pass, and a pass of exports copies whole
        # models and datasets.
        self._exports.close()
        self._dataset_exports.close()
        self._pipeline_data.close()
        for loop in reversed(self._loops):
            loop.close()
        for backend in self._backends:
            backend.close()

    def wake(self) -> None:
        """Wakes the loop, as jobs may need work."""
        self._control_woken.set()

    def look_at(self, uid: JobUid) -> None:
        """Queues a job that wasn't written to, but may need work."""
        self._work_queue.note(uid)
        self.wake()

    def _seen(self, attempt_id: AttemptId) -> None:
        """Handles a change of an attempt's state in the backend."""
        self._reconciler.seen(attempt_id)
        self.wake()

    def wake_exports(self) -> None:
        """Wakes the exports, as there may be models or datasets to export."""
        self._exports_woken.set()
        self._datasets_woken.set()

    def wake_resources(self) -> None:
        """Wakes the steps of persistent resources, as some may have to be rebooted or deleted."""
        self._resources_woken.set()

    def begin_search(self, uid: JobUid) -> None:
        """Starts handling a new tuning job or pipeline."""
        self._tuner.begin(uid)

    def changed(self, uid: JobUid, job: Job | None = None) -> None:
        """Passes a job that was written to on to the reconciler, the tuner and the uploads."""
        self._reconciler.changed(uid, job)
        self._tuner.changed(uid)
        if self._uploads.note(uid, job):
            self._uploads_woken.set()

    def refresh(self) -> None:
        """Makes all loops check all jobs, since a notification may have been missed."""
        self._reconciler.refresh()
        self._tuner.refresh()
        self._uploads.refresh()
        self._uploads_woken.set()
        self.wake_exports()
        self.wake_resources()
        self.wake()

    def _add_loop(self, step: Callable[[], float | None], name: str, woken: Event) -> None:
        self._loops.append(Loop(lambda: step() if self.leads() else None, name, woken))


def _hang_limits(settings: Settings) -> HangLimits:
    return HangLimits(
        settings.usage_s, settings.heartbeat_s, settings.hang_s, settings.hang_limit_s
    )


class KeptInCache:
    """Implements control.resource_steps.KeptEnvironments."""

    def __init__(self, cache: Path) -> None:
        self._cache = str(cache)

    def release(self, uid: str) -> None:
        kept_environments.release(self._cache, uid)

    def remove(self, uid: str) -> None:
        own = kept_environments.kept_by(self._cache, uid)
        others = kept_environments.kept(self._cache, but=uid)
        Cache(self._cache).remove(own - others)
        kept_environments.release(self._cache, uid)
