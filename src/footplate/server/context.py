"""The things that one server's services share: settings, storage, this machine, notifications."""

from __future__ import annotations

import os
import secrets
import socket
from typing import TYPE_CHECKING

from footplate import __version__
from footplate.buckets.bindings import check_folders
from footplate.buckets.copies import FolderCopies
from footplate.buckets.folder_buckets import FolderBuckets
from footplate.catalogue import load_catalogue
from footplate.control.active_jobs import Queue
from footplate.control.job_statistics import JobStatistics
from footplate.control.quotas import EffectiveQuotas
from footplate.control.regions import Binding, Regions
from footplate.control.service_log import ServiceLog
from footplate.domain.errors import NotFound
from footplate.logs.audit import FileAuditLog
from footplate.logs.files import FileLogs
from footplate.logs.usage import FileUsage
from footplate.ports.servers import Member
from footplate.server.clock import SystemClock
from footplate.server.container_engine import ServiceEngine
from footplate.server.disk_monitor import Disk
from footplate.server.disk_reserve import OPENING_BYTES
from footplate.server.leadership import CurrentLeader
from footplate.server.local_site import local_site
from footplate.server.machine import machine_id
from footplate.server.membership import Membership
from footplate.server.notifications import Notifications
from footplate.server.region_engines import bind_regions
from footplate.server.remote_buckets import open_remotes
from footplate.server.standby_backend import StandbyBackend
from footplate.store import ObservedStore, SqlStore, open_store

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.domain.names import PersistentResourceName
    from footplate.domain.persistent_resources import PersistentResource
    from footplate.server.data_dir import DataDir
    from footplate.settings import Settings
    from footplate.store.observed_store import CombinedStore


class ServiceContext:
    """The shared parts of all services. Each part uses only those created before it."""

    def __init__(
        self, settings: Settings, data_dir: DataDir, url: str, stop: Callable[[], None]
    ) -> None:
        """Creates all parts. ``url`` is this server's address; ``stop`` ends this process.

        Raises:
            FailedPrecondition: this server can't join the others; the message has the remedy.
            InvalidArgument: settings of buckets, of this machine, or of quotas are wrong; the
                message has all faults.
        """
        self.settings, self.data_dir, self.url = settings, data_dir, url
        check_folders(settings.buckets, data_dir.root)
        self.catalogue = load_catalogue(settings.catalogue)
        self.site = local_site(settings, self.catalogue)
        bound = bind_regions(settings, self.catalogue)
        self.regions = Regions(Binding(StandbyBackend(), self.site), bound)
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
