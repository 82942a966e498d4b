"""One running service: wires every component from the settings."""

from __future__ import annotations

import os
import secrets
import socket
from dataclasses import replace
from typing import TYPE_CHECKING

from starlette.middleware import Middleware

from footplate import __version__
from footplate.api.app import create_app
from footplate.api.footplate_v1 import About, ServerView
from footplate.api.leader_only import LeaderOnly
from footplate.api.logging_v2 import EndOfStream, Followers
from footplate.api.program_calls import ProgramCallCheck
from footplate.api.security import Access
from footplate.catalogue import load_catalogue
from footplate.control.admission import Admission
from footplate.control.cycle import Cycle
from footplate.control.exports import Exports
from footplate.control.hang_detection import HangLimits, HangWatch
from footplate.control.models import ModelRegistry
from footplate.control.program_calls import ProgramCalls
from footplate.control.reconciler import REPORT_GRACE_S, Reconciler
from footplate.control.regions import Binding, Regions
from footplate.domain.errors import Unavailable
from footplate.ports.servers import Member
from footplate.replica.supervisor_archive import build_archive
from footplate.server.api_callers import ApiCallers
from footplate.server.cluster_member import ClusterMember
from footplate.server.container_engine import ServiceEngine
from footplate.server.drain import Drain
from footplate.server.job_services import JobServices
from footplate.server.leader_services import LeaderServices
from footplate.server.leadership import LeadershipServices
from footplate.server.local_backend import local_backend
from footplate.server.local_site import local_site
from footplate.server.machine import RandomIds, machine_id
from footplate.server.notifications import Notifications
from footplate.server.package_resolver import ProcessResolver
from footplate.server.persistence import Persistence, open_database
from footplate.server.program_users import resolve
from footplate.server.replica_services import ReplicaServices
from footplate.server.routes import make_routes
from footplate.server.socket_owner import is_available
from footplate.server.standby_backend import StandbyBackend
from footplate.server.tuning_services import TuningServices

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.ports.leases import Lease
    from footplate.server.data_dir import DataDir
    from footplate.settings import Settings


class Service:
    """The parts of a service that lives in ``data_dir`` and answers at ``url``."""

    def __init__(self, settings: Settings, data_dir: DataDir, url: str) -> None:
        self._settings = settings
        self._data_dir = data_dir
        self._catalogue = catalogue = load_catalogue(settings.catalogue)
        self.site = local_site(settings, catalogue)
        me = _member(data_dir, url)
        database = open_database(settings, data_dir, me.id)
        self.cluster_member = ClusterMember(database, me, data_dir, settings.lease_s)
        self.cluster_member.join()
        self._kept = kept = Persistence(
            settings,
            data_dir,
            database,
            lambda: self.cluster_member.leads,
            lambda uid: notifications.see(uid),
        )
        self._archive = build_archive(settings.cache)
        self._leadership_services = leadership_services = LeadershipServices(
            self._make_term, data_dir, lambda: self.control_requests.dismiss()
        )
        self._notifications = notifications = Notifications(
            leadership_services, kept.logs, lambda: self._parts.queue
        )
        self._tuning = tuning = TuningServices(
            kept.store, database.studies, kept.clock, leadership_services.changed
        )
        regions = Regions(Binding(StandbyBackend(), self.site))
        self._engine = engine = ServiceEngine(settings, data_dir)
        self._replicas = replicas = ReplicaServices(
            kept,
            tuning,
            leadership_services,
            catalogue,
            regions.site,
            settings,
            data_dir.secret(),
            url,
            engine,
        )
        self.control_requests = replicas.control_requests
        reduction = replicas.reduction.complete
        resolver = ProcessResolver(settings, data_dir, catalogue.runtimes, self._archive)
        self._parts = parts = JobServices(
            *(
                kept,
                tuning,
                leadership_services,
                notifications,
                catalogue,
                regions,
                settings,
                engine,
                resolver,
            ),
            reduction=reduction,
        )
        self._registry = ModelRegistry(
            database.models, kept.buckets, kept.clock, RandomIds(), leadership_services.wake_exports
        )
        self.jobs, self.status = parts.jobs, parts.status
        self._draining = Drain(lambda: self.status.active() or self.status.trials())
        self.app = self._make_app(url)

    def _make_app(self, url: str) -> EndOfStream:
        about = About(__version__, url, os.getpid(), str(self._data_dir.root))
        followers = Followers()
        routes = make_routes(
            about,
            self._catalogue,
            self._kept,
            self._parts,
            self._replicas,
            self._tuning,
            self._registry,
            self._notifications.watchers,
            followers,
            self._draining.begin,
            self._servers,
        )
        access = Access.at(url, self._settings.token, self._settings.allowed_hosts)
        access = replace(access, check_key=self._replicas.programs.check)
        cluster_member = self.cluster_member
        inner = [] if self._settings.token else self._make_program_check(access)
        led = Middleware(
            LeaderOnly, leads=lambda: cluster_member.leads, url=lambda: cluster_member.leader_url
        )
        return EndOfStream(create_app(routes, access, inner=[*inner, led]), followers)

    def _make_program_check(self, access: Access) -> list[Middleware]:
        """Without a required token the kernel says who calls; empty where it doesn't."""
        if not is_available():
            return []
        users = resolve(self._settings.program_users)
        callers = ApiCallers(self._data_dir.replicas, users)
        calls = ProgramCalls(self._kept.store, self._settings.api_access)

        def check(client: tuple[str, int], server: tuple[str, int]) -> None:
            calls.check(callers.find(client, server))

        return [Middleware(ProgramCallCheck, access=access, check=check)]

    def _make_term(self, lease: Lease) -> LeaderServices:
        """All that leads, made anew: what it writes is written only under this lease."""
        queue, replicas = self._parts.queue, self._replicas
        queue.refresh()
        settings, clock, catalogue = self._settings, self._kept.clock, self._catalogue
        fenced = self._kept.database.fenced(lease)
        store = self._kept.telling(fenced)
        backend = local_backend(settings, self._data_dir, self._archive)
        regions = Regions(Binding(backend, self.site))
        leader_services = LeaderServices(
            backend, lambda: self.cluster_member.leads, self._engine.leftovers()
        )
        limits = HangLimits(
            settings.usage_s, settings.heartbeat_s, settings.hang_s, settings.hang_limit_s
        )
        hangs = HangWatch(
            store, clock, limits, REPORT_GRACE_S, replicas.stacks.tell, leader_services.look_at
        )
        grace_s = settings.evaluator_grace_s
        reconciler = Reconciler(store, regions, clock, replicas.tokens, grace_s, hangs)
        control = Cycle(Admission(store, queue, regions, catalogue, clock), reconciler)
        buckets = self._kept.buckets
        registry = ModelRegistry(fenced.models, buckets, clock, RandomIds())
        tuner = self._tuning.make_tuner(
            store, fenced.studies, registry, leader_services.wake, leader_services.wake_tuner
        )
        exports = Exports(fenced.models, buckets, clock)
        leader_services.join(control, reconciler, hangs, tuner, exports)
        return leader_services

    def start(self) -> None:
        """Load existing jobs if this server leads, then follow every change."""
        self._kept.disk.start()
        self.cluster_member.start(
            self._leadership_services.begin,
            self._leadership_services.end,
            self._notifications.receive,
            self._notifications.miss,
        )

    def shares_database(self) -> bool:
        """Whether other servers keep running when this one ends, as far as known."""
        try:
            return len(self.cluster_member.members()) > 1
        except Unavailable:
            return False

    def _servers(self) -> tuple[ServerView, ...]:
        leader = self.cluster_member.leader_url
        return tuple(
            ServerView(m.url, m.pid, m.version, leads=m.url == leader)
            for m in self.cluster_member.members()
        )

    def on_drained(self, drained: Callable[[], None]) -> None:
        """``drained`` is called when the end was asked for and no job is active any more, or this
        server may not go on.
        """
        self._draining.drained = drained
        self.cluster_member.put_out = drained

    def close(self) -> None:
        """Stop following. Jobs keep running."""
        self._tuning.models.close()  # what waits for one of them doesn't hold up the end
        self.cluster_member.close()
        self._kept.close()


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
