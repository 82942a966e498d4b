"""One running service: every part made and joined, from the settings alone."""

from __future__ import annotations

import os
import secrets
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import uv
from prometheus_client import CollectorRegistry, Gauge, ProcessCollector

from footplate import __version__
from footplate.api.app import create_app
from footplate.api.footplate_v1 import About, footplate_routes
from footplate.api.footplate_v1.catalogue import catalogue_routes
from footplate.api.footplate_v1.quotas import quota_routes
from footplate.api.footplate_v1.stacks import stacks_routes
from footplate.api.footplate_v1.trials import trials_routes
from footplate.api.footplate_v1.usage import usage_routes
from footplate.api.footplate_v1.validation import validation_routes
from footplate.api.health import health_routes
from footplate.api.locations import location_routes
from footplate.api.logging_v2 import EndOfStream, Followers, logging_routes
from footplate.api.operations import operation_routes
from footplate.api.replica_v1 import replica_routes
from footplate.api.security import Access
from footplate.api.shell_v1 import shell_routes
from footplate.api.storage_v1 import storage_routes
from footplate.api.training_v1 import training_routes
from footplate.api.vertex_v1 import vertex_routes, vizier_routes
from footplate.backends.local import LocalBackend
from footplate.buckets.folders import FolderBuckets
from footplate.catalogue import load_catalogue
from footplate.control.admission import Admission
from footplate.control.gate import Gate
from footplate.control.hangs import HangLimits, HangWatch
from footplate.control.jobs import Jobs
from footplate.control.loop import Loop
from footplate.control.queue import Queue
from footplate.control.quotas import QuotaBook
from footplate.control.reconciler import HEARING_S, Reconciler
from footplate.control.regions import Binding, Regions
from footplate.control.reports import Reports
from footplate.control.round import Round
from footplate.control.shells import Shells
from footplate.control.stacks import Stacks
from footplate.control.status import Status
from footplate.control.tasks import Limits, Tasks
from footplate.control.tokens import ShellTokens, Tokens
from footplate.control.validation import Validation
from footplate.control.wishes import Wishes
from footplate.domain.errors import Unavailable
from footplate.domain.jobs import RestartBounds
from footplate.domain.states import State
from footplate.logs.files import FileLogs
from footplate.logs.usage import FileUsage
from footplate.logs.watchers import Watchers
from footplate.replica.archive import build_archive
from footplate.server.clock import SystemClock
from footplate.server.machine import RandomIds, free_port, most_connections
from footplate.server.py_spy import find_py_spy
from footplate.server.site import local_site
from footplate.server.tuning import TuningParts
from footplate.server.vizier import make_vizier
from footplate.store import TellingStore, open_store

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.domain.names import JobUid
    from footplate.server.data_dir import DataDir
    from footplate.settings import Settings

_IDLE_CHECK_S = 0.1


class Service:
    """The parts of a service that lives in ``data_dir`` and answers at ``url``."""

    def __init__(self, settings: Settings, data_dir: DataDir, url: str) -> None:
        self._clock = clock = SystemClock(data_dir.clock_file)
        self._catalogue = catalogue = load_catalogue(settings.catalogue)
        self.site = local_site(settings, catalogue)
        self.logs = FileLogs(data_dir.logs, clock.now)
        self.usage = FileUsage(data_dir.usage, clock.now)
        self._changes = Watchers()
        kept = open_store(settings.database)
        self.store = TellingStore(kept, self._see, self.logs.wake)
        self.buckets = FolderBuckets(data_dir.buckets, clock)
        self.backend = _local_backend(settings, data_dir)
        self._regions = regions = Regions(Binding(self.backend, self.site))
        self._tokens = Tokens(secret := data_dir.secret())
        self.queue = Queue(
            self.store,
            regions,
            catalogue,
            settings.patience_s,
            clock,
            lambda: self.quotas.quotas(),
        )
        self.quotas = QuotaBook(
            kept.quotas, settings.quotas, catalogue, self.queue.held, self._see_quotas
        )
        self.wishes = Wishes(partial(secrets.token_hex, 16), most_connections() // 2)
        self.stacks = Stacks(self.wishes)
        self.hangs = self._make_hang_watch(settings)
        self.loop = Loop(self._make_round(settings).step, "control")
        wake = self.loop.wake
        bounds = RestartBounds(settings.max_restarts, settings.max_retries)
        self.tuning = TuningParts(self.store, kept.studies, clock, wake)
        self.vizier = make_vizier(kept.studies, self.tuning, clock)
        self._gate = Gate(
            self.buckets, catalogue, regions, self.quotas.quotas, bounds, self.tuning.resolver
        )
        self.status = Status(self.store, clock, wake)
        self.jobs = Jobs(
            self.store,
            self.logs,
            self.usage,
            self._gate,
            self.queue,
            self.tuning.trials,
            clock,
            RandomIds(),
            wake,
            self.tuning.tuner.begin,
        )
        hear, measure = self.hangs.hear, self.tuning.measuring.keep
        self.reports = Reports(self.store, self.logs, self.usage, clock, wake, hear, measure)
        self.shells = Shells(self.store, self.wishes, ShellTokens(secret), clock)
        self._drained: Callable[[], None] = lambda: None
        self.app = self._make_app(settings, _about(data_dir, url))

    def _make_app(self, settings: Settings, about: About) -> EndOfStream:
        catalogue, followers, trials = self._catalogue, Followers(), self.tuning.trials
        routes = [
            *health_routes(__version__, _registry(self.status), dict),
            *replica_routes(self._make_tasks(settings), self.reports, self._tokens, self.wishes),
            *shell_routes(self.shells, self._tokens, self._changes.add),
            *footplate_routes(self.status, self.store, about, self._drain),
            *usage_routes(self.usage, self.jobs.get),
            *catalogue_routes(catalogue),
            *quota_routes(self.quotas),
            *stacks_routes(self.stacks, self.jobs.get),
            *validation_routes(self._make_validation(), catalogue),
            *logging_routes(self.logs, self.jobs.get, tuple(catalogue.regions), followers),
            *storage_routes(self.buckets),
            *operation_routes(self.jobs),
            *vizier_routes(self.vizier, self._clock),
            *vertex_routes(self.jobs, self._clock, catalogue, self.shells.paths, trials),
            *training_routes(self.jobs, catalogue, self.shells.paths, trials),
            *trials_routes(trials, self.jobs.get),
            *location_routes(catalogue),
        ]
        access = Access(settings.token, frozenset(settings.allowed_hosts))
        return EndOfStream(create_app(routes, access), followers)

    def _make_round(self, settings: Settings) -> Round:
        store, regions, clock = self.store, self._regions, self._clock
        grace_s = settings.evaluator_grace_s
        return Round(
            Admission(store, self.queue, regions, self._catalogue, clock),
            Reconciler(store, regions, clock, self._tokens, grace_s, self.hangs),
        )

    def _make_hang_watch(self, settings: Settings) -> HangWatch:
        limits = HangLimits(
            settings.usage_s, settings.heartbeat_s, settings.hang_s, settings.hang_limit_s
        )
        wake, tell = (lambda: self.loop.wake()), self.stacks.tell
        return HangWatch(self.store, self._clock, limits, HEARING_S, tell, wake)

    def _make_tasks(self, settings: Settings) -> Tasks:
        limits = Limits(
            settings.stop_grace_s,
            settings.heartbeat_s,
            settings.gathering_s,
            settings.usage_s,
            settings.hang_s,
        )
        site, clock = self._regions.site, self._clock
        return Tasks(self.store, self.buckets, self._catalogue, site, clock, limits, free_port)

    def _make_validation(self) -> Validation:
        site, outlook = self._regions.site, self.queue.outlook
        return Validation(self.store, self._gate, self.buckets, self._catalogue, site, outlook)

    def _see(self, uid: JobUid) -> None:
        """Something was written to a job."""
        self.queue.changed(uid)
        self.tuning.tuner.changed(uid)
        self.logs.wake(uid)
        self._changes.wake(uid)

    def _see_quotas(self) -> None:
        self.queue.quotas_changed()
        self.loop.wake()

    def start(self) -> None:
        """Take up what is there, then follow every change."""
        self.backend.watch(lambda _: self.loop.wake())
        self.loop.start()
        self.tuning.start()

    def on_drained(self, drained: Callable[[], None]) -> None:
        """``drained`` is called when the end was asked for and no job is active any more."""
        self._drained = drained

    def _drain(self) -> None:
        threading.Thread(target=self._wait_until_idle, name="drain", daemon=True).start()

    def _wait_until_idle(self) -> None:
        while not self._idle():
            time.sleep(_IDLE_CHECK_S)
        self._drained()

    def _idle(self) -> bool:
        try:
            return not self.status.active()
        except Unavailable:  # the database is away: nobody knows, so wait on
            return False

    def close(self) -> None:
        """Stop following. Jobs go on."""
        self.tuning.close()
        self.loop.close()
        self.backend.close()
        self.buckets.close()
        self.logs.close()
        self.store.close()


def _local_backend(settings: Settings, data_dir: DataDir) -> LocalBackend:
    return LocalBackend(
        root=data_dir.replicas,
        archive=build_archive(settings.cache),
        python=Path(sys.executable),
        server_file=data_dir.server_file,
        cache=settings.cache,
        buckets=data_dir.buckets,
        uv=Path(uv.find_uv_bin()),
        py_spy=find_py_spy(),
        isolation=settings.isolation,
        network=settings.network,
        pythons=settings.pythons,
        private=(data_dir.root,),
        spool_limit_bytes=settings.spool_limit_mb << 20,
        cache_limit_bytes=settings.cache_limit_bytes,
    )


def _about(data_dir: DataDir, url: str) -> About:
    return About(__version__, url, os.getpid(), str(data_dir.root))


def _registry(status: Status) -> CollectorRegistry:
    """What /metrics shows: this process, and the active jobs by state, counted when asked."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    jobs = Gauge("footplate_jobs", "Active jobs by state", ["state"], registry=registry)
    for state in State:
        if not state.terminal:
            jobs.labels(state.value).set_function(partial(_count, status, state))
    return registry


def _count(status: Status, state: State) -> float:
    return status.active().get(state, 0)
