"""Who has to know of what was written, here or by another server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.names import JobUid
from footplate.logs.watchers import Watchers
from footplate.ports.notices import NoticeKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.control.queue import Queue
    from footplate.logs.files import FileLogs
    from footplate.ports.notices import Notice
    from footplate.server.terms import Terms


class News:
    """The queue, the term that lasts, and whoever follows a job."""

    def __init__(self, terms: Terms, logs: FileLogs, queue: Callable[[], Queue]) -> None:
        """``queue`` is asked for once there is news."""
        self._terms = terms
        self._logs = logs
        self._queue = queue
        self.watchers = Watchers()

    def see(self, uid: JobUid) -> None:
        """Something was written to a job."""
        self._queue().changed(uid)
        self._terms.changed(uid)
        self._logs.wake(uid)
        self.watchers.wake(uid)

    def see_quotas(self) -> None:
        """Quotas were set or removed."""
        self._queue().quotas_changed()
        self._terms.wake()

    def hear(self, notice: Notice) -> None:
        """Another server has written something."""
        uid = JobUid(notice.key)
        match notice.kind:
            case NoticeKind.EVENTS:
                self._logs.wake(uid)
            case NoticeKind.STUDY:
                self._terms.changed(uid)
            case NoticeKind.MODEL:
                self._terms.wake_exports()
            case NoticeKind.QUOTAS:
                self.see_quotas()
            case NoticeKind.SEARCH:
                self.see(uid)
                self._terms.begin_search(uid)
                self._terms.wake()
            case _:
                self.see(uid)
                self._terms.wake()

    def miss(self) -> None:
        """Other servers may have written anything."""
        self._queue().refresh()
        self._terms.refresh()
        self._logs.wake_all()
        self.watchers.wake_all()
