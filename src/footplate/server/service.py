"""One running service: every component, composed from the settings in order."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from starlette.middleware import Middleware

from footplate import __version__
from footplate.api.app import create_app
from footplate.api.audit import Audit
from footplate.api.caller_shares import MOST_OF_PROGRAMS, ProgramShares, Shares
from footplate.api.footplate_v1 import About
from footplate.api.leader_only import LeaderOnly
from footplate.api.logging_v2 import EndOfStream, Followers
from footplate.api.program_calls import ProgramCallCheck
from footplate.api.relayed_programs import RelayedPrograms
from footplate.api.request_counts import CountRequests, RequestCounts
from footplate.api.security import SERVED_HOST, Access
from footplate.api.wrong_tokens import WrongTokens
from footplate.console import ConsoleParts, UnknownAddresses
from footplate.console.feed import Feed
from footplate.control.datasets import Datasets
from footplate.control.models import ModelRegistry
from footplate.control.program_calls import ProgramCalls
from footplate.control.program_keys import KeyedCalls
from footplate.domain.bucket_sharing import EVERY
from footplate.domain.errors import InvalidArgument, NotFound, Unavailable, Violation
from footplate.ports.object_storage import ObjectStorage
from footplate.replica.supervisor_archive import build_archive
from footplate.server.api_callers import ApiCallers
from footplate.server.cluster_member import ClusterMember
from footplate.server.context import ServiceContext
from footplate.server.data_dir import DataDir
from footplate.server.isolation_probe import PromisedIsolation
from footplate.server.job_services import JobServices
from footplate.server.leader_services import LeaderServices
from footplate.server.leadership import LeadershipServices
from footplate.server.local_backend import local_backend
from footplate.server.machine import RandomIds
from footplate.server.metrics import make_registry
from footplate.server.package_resolver import ProcessResolver
from footplate.server.program_users import resolve
from footplate.server.region_engines import RegionEngines
from footplate.server.replica_services import ReplicaServices
from footplate.server.routes import make_routes
from footplate.server.socket_owner import is_available
from footplate.server.tls_listeners import TlsListeners
from footplate.server.tuning_services import TuningServices
from footplate.wire.footplate_v1.status import Server

if TYPE_CHECKING:
    from footplate.server.cluster_listener import ClusterListener
    from footplate.settings import Settings


# Drains the server: shuts down once no job is active.

_CHECK_S = 0.1


@dataclass(frozen=True)
class Drain:
    """Waits for the end of all jobs. ``active`` returns the number of active jobs, or raises
    Unavailable.

    ``drained`` is called on a thread of its own when no job is active.
    """

    active: Callable[[], object]
    drained: Callable[[], None]
    check_s: float = _CHECK_S

    def begin(self) -> None:
        """Starts waiting in the background."""
        threading.Thread(target=self._wait, name="drain", daemon=True).start()

    def _wait(self) -> None:
        while not self._idle():
            time.sleep(self.check_s)
        self.drained()

    def _idle(self) -> bool:
        try:
            return not self.active()
        except Unavailable:  # the database is not reachable: the state is unknown, so keep waiting
            return False


# Gives buckets to projects as the settings say, and names those that belong to none.

log = logging.getLogger(__name__)
_MAX_NAMED = 20


def assign_buckets(
    buckets: ObjectStorage, owners: Sequence[tuple[str, str]], shared: Sequence[str]
) -> None:
    """Assigns buckets to projects. ``owners`` is the setting ``bucket_projects``; ``shared`` is
    ``shared_buckets``.

    Raises InvalidArgument if a bucket doesn't exist.
    """
    for name, project in owners:
        try:
            if buckets.bucket(name).project != project:
                buckets.assign_bucket(name, project)
        except (NotFound, InvalidArgument):
            text = f"{name!r} given; allowed: the names of buckets that exist"
            raise InvalidArgument.of((Violation("bucket_projects", text),)) from None
    if EVERY in shared:
        return
    if found := [bucket.name for bucket in buckets.buckets() if bucket.project is None]:
        more = f" and {len(found) - _MAX_NAMED} more" if len(found) > _MAX_NAMED else ""
        log.warning(
            "Programs of all projects can use these buckets, which belong to no project: %s%s. "
            "The setting bucket_projects (BUCKET=PROJECT) assigns buckets to projects.",
            ", ".join(found[:_MAX_NAMED]),
            more,
        )


class Service:
    """A service with its data in ``data_dir`` that answers at ``url``.

    ``stop`` is called when the end was requested and no job is active, or when this server may not
    continue.
    """

    def __init__(
        self, settings: Settings, data_dir: DataDir, url: str, stop: Callable[[], None]
    ) -> None:
        # A lambda, because `replicas` is created below, and needs the port of the proxy for that.
        self.tls = TlsListeners(settings, data_dir, url, lambda key: replicas.programs.check(key))
        self.cluster = _make_cluster(settings, data_dir)
        self._context = context = ServiceContext(settings, data_dir, url, stop, self.cluster)
        self.site = context.site
        assign_buckets(context.buckets, settings.bucket_projects, settings.shared_buckets)
        archive = build_archive(settings.cache)
        self._engines = RegionEngines(settings, data_dir, archive, self.cluster)
        self._tuning = tuning = TuningServices(
            context.store, context.database.studies, context.clock, context.leader.changed
        )
        self._replicas = replicas = ReplicaServices(context, tuning, self.tls)
        self.control_requests = replicas.control_requests
        promised = PromisedIsolation(settings)
        resolver = ProcessResolver(
            settings, data_dir, context.catalogue.runtimes, archive, promised
        )
        reduction = replicas.reduction.complete
        self._parts = parts = JobServices(context, tuning, resolver, reduction=reduction)
        self.jobs, self.status = parts.jobs, parts.status
        self._registry = ModelRegistry(
            context.database.models,
            context.buckets,
            context.clock,
            RandomIds(),
            context.leader.wake_exports,
        )
        self._datasets = Datasets(
            context.database.tracking,
            context.buckets,
            context.clock,
            context.leader.wake_exports,
            settings.shared_buckets,
        )
        backend = partial(local_backend, settings, data_dir, archive, promised)
        leadership_services = LeadershipServices(
            context.leader,
            partial(LeaderServices, context, replicas, tuning, backend, self._engines),
            data_dir,
            replicas.control_requests.dismiss,
        )
        self.cluster_member = ClusterMember(
            context, leadership_services.begin, leadership_services.end
        )
        self._wrong_tokens = WrongTokens(context.audit)
        self._draining = Drain(lambda: parts.status.active() or parts.status.trials(), stop)
        self.keyed_calls = self._make_keyed_calls()
        self.app, self.cluster_app = self._make_apps()

    def _make_apps(self) -> tuple[EndOfStream, EndOfStream]:
        """Returns the app for all callers, and that for launchers and programs elsewhere."""
        settings, data_dir, url = self._context.settings, self._context.data_dir, self._context.url
        about = About(__version__, url, os.getpid(), str(data_dir.root))
        followers, counts = Followers(), RequestCounts()
        routes = make_routes(
            about,
            self._context,
            self._parts,
            self._replicas,
            self._engines.calls,
            self._tuning,
            self._registry,
            self._datasets,
            followers,
            self._draining.begin,
            self._servers,
            self.tls,
            make_registry(
                self.status,
                self._replicas.reduced,
                counts,
                self._context.job_statistics,
                self._context.regions.sites(),
                self._context.queue.held_gpus,
            ),
            self._make_console(),
        )
        access = Access.at(url, settings.token, settings.allowed_hosts)
        access = replace(
            access,
            check_key=self._replicas.programs.check,
            note_wrong=self._wrong_tokens.note,
        )
        cluster_member, cluster = self.cluster_member, self.cluster
        inner = self._make_program_check(access)
        led = Middleware(
            LeaderOnly, leads=lambda: cluster_member.leads, url=lambda: cluster_member.leader_url
        )
        counting = Middleware(CountRequests, counts=counts, routes=routes)
        token = settings.token is not None
        audit = Middleware(Audit, log=self._context.audit, routes=routes, token=token)
        # Else a job could keep all worker threads busy.
        sharing = Middleware(ProgramShares, shares=Shares(MOST_OF_PROGRAMS))
        behind = [sharing, counting, audit]
        served = create_app(routes, access, inner=[*inner, led, *behind])
        app = EndOfStream(UnknownAddresses(served, elsewhere=SERVED_HOST), followers)
        relayed = Access(None, access.host_names, access.check_key)
        if cluster is not None:
            relayed = replace(relayed, host_names=access.host_names | {cluster.host})
        programs = Middleware(RelayedPrograms, access=relayed, check_call=self.keyed_calls.check)
        for_nodes = create_app(routes, relayed, inner=[led, programs, *behind])
        return app, EndOfStream(for_nodes, followers)

    def _make_console(self) -> ConsoleParts:
        feed = Feed()
        self._context.notifications.watchers.watch_all(feed.changed)
        token = self._context.settings.token
        guard = self._wrong_tokens.guard
        return ConsoleParts(lambda: self.app, feed, token, __version__, time.time, guard)

    def _make_keyed_calls(self) -> KeyedCalls:
        """Returns the check that identifies programs on other machines by their keys."""
        settings, replicas = self._context.settings, self._replicas
        closed = settings.token is not None
        calls = ProgramCalls(self._context.store, settings.api_access, closed=closed)
        return KeyedCalls(replicas.program_keys, replicas.programs.check, calls)

    def _make_program_check(self, access: Access) -> list[Middleware]:
        """Returns the middleware that asks the kernel who calls; [] if the kernel can't tell."""
        if not is_available():
            return []
        settings = self._context.settings
        users = resolve(settings.program_users)
        closed = settings.token is not None
        callers = ApiCallers(self._context.data_dir.replicas, users, remote=closed)
        calls = ProgramCalls(self._context.store, settings.api_access, closed=closed)

        def check(client: tuple[str, int], server: tuple[str, int]) -> str:
            try:
                caller = callers.find(client, server)
            except OSError as error:
                raise Unavailable(
                    f"the server can't identify the caller of this request now: {error.strerror}"
                ) from error
            return calls.check(caller)

        name_user = callers.name_user
        return [Middleware(ProgramCallCheck, access=access, check=check, name_user=name_user)]

    def start(self) -> None:
        """Loads existing jobs if this server leads, then reacts to every change."""
        self._context.disk.start()
        self.cluster_member.start()
        self._parts.region_reports.start()

    def shares_database(self) -> bool:
        """Returns whether other servers keep running when this one ends, as far as known."""
        try:
            return len(self.cluster_member.members()) > 1
        except Unavailable:
            return False

    def _servers(self) -> tuple[Server, ...]:
        leader = self.cluster_member.leader_url
        return tuple(
            Server(m.url, m.pid, m.version, leads=m.url == leader)
            for m in self.cluster_member.members()
        )

    def close(self) -> None:
        """Stops all parts. Jobs keep running."""
        self._tuning.models.close()  # what waits for one of them doesn't hold up the end
        self.cluster_member.close()
        self.tls.close()
        if self.cluster is not None:
            self.cluster.close()
        self._context.close()


def _make_cluster(settings: Settings, data_dir: DataDir) -> ClusterListener | None:
    if settings.cluster_address is None:
        return None
    # Imported here: it takes memory that a service without a cluster never needs.
    from footplate.server.cluster_listener import ClusterListener

    return ClusterListener(settings, data_dir)
