"""The things that one server's services share: settings, storage, this machine, notifications."""

from __future__ import annotations

import logging
import os
import secrets
import socket
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from footplate import __version__
from footplate.buckets.bindings import check_folders
from footplate.buckets.copies import FolderCopies
from footplate.buckets.folder_buckets import FolderBuckets
from footplate.catalogue import load_catalogue
from footplate.control.control_loop import Loop
from footplate.control.job_queue import Queue
from footplate.control.job_statistics import JobStatistics
from footplate.control.quotas import EffectiveQuotas
from footplate.control.regions import Binding, Regions
from footplate.control.service_log import ServiceLog
from footplate.domain.catalogue import Catalogue
from footplate.domain.errors import FailedPrecondition, NotFound, Unavailable
from footplate.domain.names import PersistentResourceName
from footplate.domain.persistent_resources import PersistentResource
from footplate.domain.sites import Site
from footplate.domain.sites.gpu_assignment import VISIBLE
from footplate.domain.sites.values import replicas_for
from footplate.logs.audit import FileAuditLog
from footplate.logs.files import FileLogs
from footplate.logs.usage import FileUsage
from footplate.ports.servers import Member, Servers
from footplate.server.api_callers import describe_callers
from footplate.server.clock import SystemClock
from footplate.server.container_engine import ServiceEngine
from footplate.server.data_dir import DataDir
from footplate.server.disk_reserve import OPENING_BYTES, DiskReserve
from footplate.server.gpus import Gpus
from footplate.server.leadership import CurrentLeader
from footplate.server.machine import cpus, machine_id, memory_bytes
from footplate.server.notifications import Notifications
from footplate.server.program_users import describe_power
from footplate.server.region_engines import bind_regions
from footplate.server.remote_buckets import open_remotes
from footplate.server.standby_backend import StandbyBackend
from footplate.store import ObservedStore, SqlStore, open_store
from footplate.store.observed_store import CombinedStore
from footplate.wire.json_text import JsonObject

if TYPE_CHECKING:
    from footplate.server.cluster_listener import ClusterListener
    from footplate.settings import Settings


# This server's registration among those that share its database.

MISSED_LEASES = 3
"""A server counts as dead that gave no sign of life for so many lives of a lease."""
_SIGNS = 3
"""The number of signs of life in the life of a lease."""
_log = logging.getLogger(__name__)


class Membership:
    def __init__(
        self,
        servers: Servers,
        member: Member,
        data_dir: DataDir,
        lease_s: float,
        stop: Callable[[], None],
    ) -> None:
        """Creates the membership. ``stop`` is called if this server can't stay a member."""
        self._servers = servers
        self._member = member
        self._data_dir = data_dir
        self._silent_s = MISSED_LEASES * lease_s
        self._pause_s = lease_s / _SIGNS
        self._stop = stop

    def join(self) -> None:
        """Joins the database's servers. Raises FailedPrecondition with reason and remedy."""
        identity = self._data_dir.identity()
        database = self._servers.join(self._member, self._silent_s, identity.database)
        self._data_dir.settle(identity, database)

    def step(self) -> float:
        """Sends a sign of life; returns the seconds until the next one is due."""
        try:
            if not self._servers.heartbeat(self._member, self._silent_s):
                self.join()  # it slept for so long that it was taken for dead
        except Unavailable as error:
            _log.warning(
                "this server can't report to the other servers that it is running: %s",
                error.message,
            )
        except FailedPrecondition as error:
            _log.error("this server ends: %s", error.message)
            self._stop()
        return self._pause_s

    def living(self) -> tuple[Member, ...]:
        """Returns the servers that share the database, including this one."""
        return self._servers.living(self._silent_s)

    def leave(self) -> None:
        try:
            self._servers.leave(self._member.id)
        except Unavailable as error:
            _log.warning(
                "this server can't report to the other servers that it stops: %s", error.message
            )


# The capacity of this machine.

SITE_NAME = "this machine"


def local_site(
    settings: Settings, catalogue: Catalogue, environ: Mapping[str, str] = os.environ
) -> Site:
    """Measures this machine and finds its GPUs, which takes a moment if there are any.

    Of ``environ`` it uses only CUDA_VISIBLE_DEVICES, which may limit the service's GPUs.

    Raises:
        InvalidArgument: this machine can't fulfil a setting of GPUs; the message names it and the
            allowed values.
    """
    found = Gpus(catalogue, environ.get(VISIBLE)).find(settings.gpus, settings.gpu_type)
    memory = memory_bytes()
    return Site(
        name=SITE_NAME,
        mode=settings.mode,
        replicas=settings.max_replicas or replicas_for(memory),
        vcpus=cpus(),
        memory_mb=memory >> 20,
        gpus=found.gpus,
        hides_gpus=found.hidden,
        notes=(
            *found.notes,
            *describe_power(
                settings.allow_root, isolation=settings.isolation, users=settings.program_users
            ),
            *describe_callers(settings.token),
        ),
    )


# Monitors the data directory's disk, and keeps space in reserve.


class Disk:
    """Monitors the disk. ``keep_room`` makes the database reserve space in its own files."""

    def __init__(self, reserve: DiskReserve, keep_room: Callable[[], None]) -> None:
        self._reserve = reserve
        self._keep_room = keep_room
        self._loop = Loop(self.maintain, "disk")

    def start(self) -> None:
        """Starts checking the disk at intervals."""
        self._loop.start()

    def close(self) -> None:
        self._loop.close()

    def maintain(self) -> float:
        """Refills the reserves if there is space; returns the seconds until the next check."""
        self._keep_room()
        return self._reserve.maintain()

    def trouble(self) -> str:
        """Returns what an operator must know about the disk; '' if nothing."""
        return self._reserve.state().trouble()

    def probe(self) -> JsonObject:
        """Returns the disk's part of the health check. A full disk doesn't fail it: a restart
        wouldn't help.
        """
        trouble = self.trouble()
        return {"trouble": trouble} if trouble else {}


class ServiceContext:
    """The shared parts of all services. Each part uses only those created before it."""

    def __init__(
        self,
        settings: Settings,
        data_dir: DataDir,
        url: str,
        stop: Callable[[], None],
        cluster: ClusterListener | None,
    ) -> None:
        """Creates all parts. ``url`` is this server's address; ``stop`` ends this process;
        ``cluster`` listens for nodes.

        Raises:
            FailedPrecondition: this server can't join the others; the message has the remedy.
            InvalidArgument: settings of buckets, of this machine, or of quotas are wrong; the
                message has all faults.
        """
        self.settings, self.data_dir, self.url = settings, data_dir, url
        check_folders(settings.buckets, data_dir.root)
        self.catalogue = load_catalogue(settings.catalogue)
        self.site = local_site(settings, self.catalogue)
        bound = bind_regions(settings, self.catalogue, data_dir, cluster)
        self.regions = Regions(Binding(StandbyBackend(), self.site), bound)
        self.region_facts: dict[str, Callable[[], tuple[str, ...]]] = {}
        self.region_problems: dict[str, Callable[[], tuple[str, ...]]] = {}
        """What the leader reports of its regions, by their names; empty where another leads."""
        self.engine = ServiceEngine(settings, data_dir)

        self.member = _member(data_dir, url)
        self.database = _open_database(settings, data_dir, self.member.id)
        self.membership = Membership(
            self.database.servers(), self.member, data_dir, settings.lease_s, stop
        )
        self.membership.join()
        self.leader = CurrentLeader()

        self.clock = SystemClock(data_dir.clock_file)
        self.reserve = data_dir.reserve
        keep_room = self.database.keep_room if settings.reserve_mb else lambda: None
        self.disk = Disk(self.reserve, keep_room)
        elsewhere = (lambda: not self.leader.leads) if self.database.several else None
        limit = settings.log_limit_mb << 20
        self.logs = FileLogs(data_dir.logs, self.clock.now, elsewhere=elsewhere, limit_bytes=limit)
        self.audit = FileAuditLog(data_dir.audit_file)
        self.usage = FileUsage(data_dir.usage, self.clock.now)
        remotes = open_remotes(settings.buckets)
        self.buckets = FolderBuckets(
            data_dir.buckets, self.clock, bindings=settings.buckets, remotes=remotes
        )
        self.copies = FolderCopies(data_dir.copies, self.buckets)
        self.service_log = ServiceLog(self.database, self.logs)
        self.job_statistics = JobStatistics()

        self.quotas = EffectiveQuotas(self.database.quotas, settings.quotas, self.catalogue)
        self.queue = Queue(
            self.database,
            self.regions,
            self.catalogue,
            settings.patience_s,
            self.clock,
            self.quotas.quotas,
            resources=self.database.persistent_resources.all,
        )
        self.notifications = Notifications(self.queue, self.leader, self.logs)
        self.store = self.observed(self.database)

    def observed(self, database: CombinedStore) -> ObservedStore:
        """Returns the job store; each write to a job wakes the job's followers."""
        return ObservedStore(
            database,
            self.notifications.see,
            self.logs.wake,
            retrying=self.reserve.retrying,
            logged=self.service_log.follow,
            noted=self.job_statistics.note,
        )

    def find_resource(self, name: PersistentResourceName) -> PersistentResource | None:
        try:
            return self.database.persistent_resources.get(name)
        except NotFound:
            return None

    def close(self) -> None:
        self.disk.close()
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


def _open_database(settings: Settings, data_dir: DataDir, server: str) -> SqlStore:
    """Opens the database for the ``server`` with this id. Only one server may use a file in the
    directory.
    """
    sole = settings.database_url is None
    lost = data_dir.describe_loss() if sole else ""
    store = data_dir.reserve.retrying(
        lambda: open_store(settings.database, server=server, sole=sole, lost=lost), OPENING_BYTES
    )
    if sole:
        try:
            data_dir.check_jobs(store.uids())
        except BaseException:
            store.close()
            raise
    return store
