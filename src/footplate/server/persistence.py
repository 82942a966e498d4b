"""Opens what outlives a server: the database and the files of the data directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.buckets.folder_buckets import FolderBuckets
from footplate.control.service_log import ServiceLog
from footplate.logs.files import FileLogs
from footplate.logs.usage import FileUsage
from footplate.server.clock import SystemClock
from footplate.server.disk_monitor import Disk
from footplate.server.disk_reserve import OPENING_BYTES
from footplate.store import ObservedStore, SqlStore, open_store

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.domain.names import JobUid
    from footplate.server.data_dir import DataDir
    from footplate.settings import Settings
    from footplate.store.observed_store import CombinedStore


def open_database(settings: Settings, data_dir: DataDir, server: str) -> SqlStore:
    """``server``: the id of the one that opens it. A file in the directory only one server has."""
    sole = settings.database_url is None
    return data_dir.reserve.retrying(
        lambda: open_store(settings.database, server=server, sole=sole), OPENING_BYTES
    )


class Persistence:
    """The parts that write or read it."""

    def __init__(
        self,
        settings: Settings,
        data_dir: DataDir,
        database: SqlStore,
        leads: Callable[[], bool],
        see: Callable[[JobUid], None],
    ) -> None:
        """``leads``: whether this server writes the logs now. ``see`` gets each job written to."""
        self._see = see
        self.database = database
        self.clock = SystemClock(data_dir.clock_file)
        self.reserve = data_dir.reserve
        keep_room = database.keep_room if settings.reserve_mb else lambda: None
        self.disk = Disk(self.reserve, keep_room)
        elsewhere = (lambda: not leads()) if database.several else None
        self.logs = FileLogs(data_dir.logs, self.clock.now, elsewhere=elsewhere)
        self.usage = FileUsage(data_dir.usage, self.clock.now)
        self.buckets = FolderBuckets(data_dir.buckets, self.clock)
        self.service_log = ServiceLog(database, self.logs)
        self.store = self.telling(database)

    def telling(self, database: CombinedStore) -> ObservedStore:
        """The job store; each write wakes the followers of its job."""
        return ObservedStore(
            database,
            self._see,
            self.logs.wake,
            retrying=self.reserve.retrying,
            logged=self.service_log.follow,
        )

    def close(self) -> None:
        self.disk.close()
        self.buckets.close()
        self.logs.close()
        self.store.close()
