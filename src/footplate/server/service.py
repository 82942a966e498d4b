"""One running service: every part made and joined, from the settings alone."""

from __future__ import annotations

import os
import secrets
import socket
import time
from functools import partial
from typing import TYPE_CHECKING

from starlette.middleware import Middleware

from footplate import __version__
from footplate.api.app import create_app
from footplate.api.footplate_v1 import About, ServerView, footplate_routes
from footplate.api.footplate_v1.catalogue import catalogue_routes
from footplate.api.footplate_v1.quotas import quota_routes
from footplate.api.footplate_v1.stacks import stacks_routes
from footplate.api.footplate_v1.trials import trials_routes
from footplate.api.footplate_v1.usage import usage_routes
from footplate.api.footplate_v1.validation import validation_routes
from footplate.api.health import health_routes
from footplate.api.led_elsewhere import LedElsewhere
from footplate.api.locations import location_routes
from footplate.api.logging_v2 import EndOfStream, Followers, logging_routes
from footplate.api.operations import operation_routes
from footplate.api.replica_v1 import replica_routes
from footplate.api.security import Access
from footplate.api.shell_v1 import shell_routes
from footplate.api.storage_v1 import program_routes, storage_routes
from footplate.api.training_v1 import training_routes
from footplate.api.vertex_v1 import vertex_routes, vizier_routes
from footplate.buckets.folders import FolderBuckets
from footplate.catalogue import load_catalogue
from footplate.control.admission import Admission
from footplate.control.gate import Gate
from footplate.control.hangs import HangLimits, HangWatch
from footplate.control.jobs import Jobs
from footplate.control.program_storage import PATH as PROGRAMS
from footplate.control.program_storage import ProgramStorage
from footplate.control.queue import Queue
from footplate.control.quotas import QuotaBook
from footplate.control.reconciler import HEARING_S, Reconciler
from footplate.control.reduced import ReducedTotals
from footplate.control.reduction import ReductionKit
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
from footplate.domain.names import JobUid
from footplate.logs.files import FileLogs
from footplate.logs.usage import FileUsage
from footplate.logs.watchers import Watchers
from footplate.ports.notices import NoticeKind
from footplate.ports.servers import Member
from footplate.replica.archive import build_archive
from footplate.server.clock import SystemClock
from footplate.server.company import Company
from footplate.server.disk import Disk
from footplate.server.draining import Draining
from footplate.server.machine import RandomIds, free_port, machine_id, most_connections
from footplate.server.metrics import make_registry
from footplate.server.no_backend import NoBackend
from footplate.server.reduction import find_wheel
from footplate.server.reserve import OPENING_BYTES
from footplate.server.site import local_site
from footplate.server.supervision import local_backend
from footplate.server.term import Term
from footplate.server.terms import Terms
from footplate.server.tuning import TuningParts
from footplate.server.vizier import make_vizier
from footplate.store import TellingStore, open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from footplate.control.tokens import Bearer
    from footplate.ports.leases import Lease
    from footplate.ports.notices import Notice
    from footplate.server.data_dir import DataDir
    from footplate.settings import Settings
    from footplate.wire.replica_v1 import Record


class Service:
    """The parts of a service that lives in ``data_dir`` and answers at ``url``."""

    def __init__(self, settings: Settings, data_dir: DataDir, url: str) -> None:
        self._clock = clock = SystemClock(data_dir.clock_file)
        self._catalogue = catalogue = load_catalogue(settings.catalogue)
        self.site = local_site(settings, catalogue)
        self._settings = settings
        self._data_dir = data_dir
        me = _member(data_dir, url)
        own = settings.database_url is None  # a file in the directory that only one server has
        self.reserve = reserve = data_dir.reserve
        self._kept = kept = reserve.retrying(
            lambda: open_store(settings.database, server=me.id, sole=own), OPENING_BYTES
        )
        self._disk = Disk(reserve, kept.keep_room if settings.reserve_mb else lambda: None)
        self.company = Company(kept, me, data_dir, settings.lease_s)
        self.company.join()
        self._terms = Terms(self._make_term, data_dir, lambda: self.wishes.dismiss())
        elsewhere = (lambda: not self.company.leads) if kept.several else None
        self.logs = FileLogs(data_dir.logs, clock.now, elsewhere=elsewhere)
        self.usage = FileUsage(data_dir.usage, clock.now)
        self._changes = Watchers()
        self.store = TellingStore(kept, self._see, self.logs.wake, retrying=reserve.retrying)
        self.buckets = FolderBuckets(data_dir.buckets, clock)
        self._archive = build_archive(settings.cache)
        self._regions = regions = Regions(Binding(NoBackend(), self.site))
        self._tokens = Tokens(secret := data_dir.secret())
        self._reduction = ReductionKit(secret, find_wheel())
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
        wake = self._terms.wake
        bounds = RestartBounds(settings.max_restarts, settings.max_retries)
        self.tuning = TuningParts(self.store, kept.studies, clock, self._terms.changed)
        self.vizier = make_vizier(kept.studies, self.tuning, clock)
        self._gate = Gate(
            self.buckets,
            catalogue,
            regions,
            self.quotas.quotas,
            bounds,
            self.tuning.resolver,
            reduction=self._reduction.complete,
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
            self._terms.begin_search,
            reserve.check,
        )
        self._reduced = ReducedTotals(time.monotonic)
        hear, measure = self._hear_report, self.tuning.measuring.keep
        self.reports = Reports(
            self.store, self.logs, self.usage, clock, wake, hear, measure, reserve.retrying
        )
        self._programs = ProgramStorage(self.store, secret, url)
        self.shells = Shells(self.store, self.wishes, ShellTokens(secret), clock)
        self._draining = Draining(self.status.active)
        self.app = self._make_app(settings, _about(data_dir, url))

    def _make_app(self, settings: Settings, about: About) -> EndOfStream:
        catalogue, followers, trials = self._catalogue, Followers(), self.tuning.trials
        routes = [  # tried one by one: what each job needs, and who waits for one asks, comes first
            *replica_routes(self._make_tasks(settings), self.reports, self._tokens, self.wishes),
            *training_routes(self.jobs, catalogue, self.shells.paths, trials),
            *(storage := storage_routes(self.buckets)),
            *health_routes(
                __version__, make_registry(self.status, self._reduced), self._disk.probe
            ),
            *shell_routes(self.shells, self._tokens, self._changes.add),
            *footplate_routes(
                self.status,
                self.store,
                about,
                self._draining.begin,
                self._servers,
                self._disk.trouble,
            ),
            *usage_routes(self.usage, self.jobs.get),
            *catalogue_routes(catalogue),
            *quota_routes(self.quotas),
            *stacks_routes(self.stacks, self.jobs.get),
            *validation_routes(self._make_validation(), catalogue),
            *logging_routes(self.logs, self.jobs.get, tuple(catalogue.regions), followers),
            program_routes(PROGRAMS, self._programs.check, storage),
            *operation_routes(self.jobs),
            *vizier_routes(self.vizier, self._clock),
            *vertex_routes(self.jobs, self._clock, catalogue, self.shells.paths, trials),
            *trials_routes(trials, self.jobs.get, self.jobs.explain),
            *location_routes(catalogue),
        ]
        access = Access.at(about.url, settings.token, settings.allowed_hosts)
        company = self.company
        led = Middleware(LedElsewhere, leads=lambda: company.leads, url=lambda: company.leader_url)
        return EndOfStream(create_app(routes, access, inner=[led]), followers)

    def _make_term(self, lease: Lease) -> Term:
        """All that leads, made anew: what it writes is written only under this lease."""
        self.queue.refresh()
        settings, clock, catalogue = self._settings, self._clock, self._catalogue
        fenced = self._kept.fenced(lease)
        store = TellingStore(fenced, self._see, self.logs.wake, retrying=self.reserve.retrying)
        backend = local_backend(settings, self._data_dir, self._archive)
        regions = Regions(Binding(backend, self.site))
        term = Term(backend, lambda: self.company.leads)
        limits = HangLimits(
            settings.usage_s, settings.heartbeat_s, settings.hang_s, settings.hang_limit_s
        )
        hangs = HangWatch(store, clock, limits, HEARING_S, self.stacks.tell, term.look_at)
        grace_s = settings.evaluator_grace_s
        reconciler = Reconciler(store, regions, clock, self._tokens, grace_s, hangs)
        control = Round(Admission(store, self.queue, regions, catalogue, clock), reconciler)
        tuner = self.tuning.make_tuner(store, fenced.studies, term.wake, term.wake_tuner)
        term.join(control, reconciler, hangs, tuner)
        return term

    def _make_tasks(self, settings: Settings) -> Tasks:
        limits = Limits(
            settings.stop_grace_s,
            settings.heartbeat_s,
            settings.gathering_s,
            settings.usage_s,
            settings.hang_s,
        )
        return Tasks(
            self.store,
            self.buckets,
            self._catalogue,
            self._regions.site,
            self._clock,
            limits,
            free_port,
            self._reduction,
            self._programs.variables,
        )

    def _make_validation(self) -> Validation:
        site, outlook = self._regions.site, self.queue.outlook
        return Validation(self.store, self._gate, self.buckets, self._catalogue, site, outlook)

    def _see(self, uid: JobUid) -> None:
        """Something was written to a job."""
        self.queue.changed(uid)
        self._terms.changed(uid)
        self.logs.wake(uid)
        self._changes.wake(uid)

    def _see_quotas(self) -> None:
        self.queue.quotas_changed()
        self._terms.wake()

    def _hear_report(self, bearer: Bearer, records: Sequence[Record]) -> None:
        self._terms.hear(bearer, records)
        self._reduced.hear(bearer, records)

    def _hear(self, notice: Notice) -> None:
        """Another server has written something."""
        uid = JobUid(notice.key)
        match notice.kind:
            case NoticeKind.EVENTS:
                self.logs.wake(uid)
            case NoticeKind.STUDY:
                self._terms.changed(uid)
            case NoticeKind.QUOTAS:
                self._see_quotas()
            case NoticeKind.SEARCH:
                self._see(uid)
                self._terms.begin_search(uid)
                self._terms.wake()
            case _:
                self._see(uid)
                self._terms.wake()

    def _miss(self) -> None:
        """Other servers may have written anything."""
        self.queue.refresh()
        self._terms.refresh()
        self.logs.wake_all()
        self._changes.wake_all()

    def start(self) -> None:
        """Take up what is there if this server leads, then follow every change."""
        self._disk.start()
        self.company.start(self._terms.begin, self._terms.end, self._hear, self._miss)

    def has_company(self) -> bool:
        """Whether other servers go on when this one ends, as far as is known."""
        try:
            return len(self.company.members()) > 1
        except Unavailable:
            return False

    def _servers(self) -> tuple[ServerView, ...]:
        leader = self.company.leader_url
        return tuple(
            ServerView(m.url, m.pid, m.version, leads=m.url == leader)
            for m in self.company.members()
        )

    def on_drained(self, drained: Callable[[], None]) -> None:
        """``drained`` is called when the end was asked for and no job is active any more, or this
        server may not go on.
        """
        self._draining.drained = drained
        self.company.put_out = drained

    def close(self) -> None:
        """Stop following. Jobs go on."""
        self.tuning.models.close()  # what waits for one of them doesn't hold up the end
        self.company.close()
        self._disk.close()
        self.buckets.close()
        self.logs.close()
        self.store.close()


def _member(data_dir: DataDir, url: str) -> Member:
    return Member(
        id=secrets.token_hex(6),
        url=url,
        pid=os.getpid(),
        version=__version__,
        machine=machine_id(),
        host=socket.gethostname(),
        data_dir=str(data_dir.root),
        data_dir_id=data_dir.identity().id,
    )


def _about(data_dir: DataDir, url: str) -> About:
    return About(__version__, url, os.getpid(), str(data_dir.root))
