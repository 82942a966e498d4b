"""Notifies components of changes, made here or by another server."""

from __future__ import annotations

from footplate.control.job_queue import Queue
from footplate.domain.jobs import Job
from footplate.domain.names import JobUid
from footplate.logs.files import FileLogs
from footplate.logs.watchers import Watchers
from footplate.ports.notifications import Notice, NoticeKind
from footplate.server.leadership import CurrentLeader


class Notifications:
    """Notifies the queue, the leader's services, and the followers of jobs."""

    def __init__(self, queue: Queue, leader: CurrentLeader, logs: FileLogs) -> None:
        self._queue = queue
        self._leader = leader
        self._logs = logs
        self.watchers = Watchers()

    def see(self, uid: JobUid, job: Job | None = None) -> None:
        """Notifies of a write to a job, which is ``job`` since; None: it must be read."""
        self._queue.changed(uid, job)
        self._leader.changed(uid, job)
        self._logs.wake(uid)
        self.watchers.wake(uid)

    def see_quotas(self) -> None:
        """Notifies of changed quotas."""
        self._queue.quotas_changed()
        self._leader.wake()

    def see_resources(self) -> None:
        """Notifies of persistent resources that were created, changed or deleted."""
        self._queue.resources_changed()
        self._leader.wake()
        self._leader.wake_resources()

    def receive(self, notice: Notice) -> None:
        """Passes on another server's notice that it wrote to a job, quota or resource."""
        uid = JobUid(notice.key)
        match notice.kind:
            case NoticeKind.EVENTS:
                self._logs.wake(uid)
            case NoticeKind.STUDY:
                self._leader.changed(uid)
            case NoticeKind.MODEL:
                self._leader.wake_exports()
            case NoticeKind.PERSISTENT_RESOURCE:
                self.see_resources()
            case NoticeKind.QUOTAS:
                self.see_quotas()
            case NoticeKind.SEARCH:
                self.see(uid)
                self._leader.begin_search(uid)
                self._leader.wake()
            case _:
                self.see(uid)
                self._leader.wake()

    def miss(self) -> None:
        """Makes all listeners check all jobs, since other servers' notices may have been missed."""
        self._queue.refresh()
        self._leader.refresh()
        self._logs.wake_all()
        self.watchers.wake_all()
