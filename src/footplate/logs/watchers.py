"""Notifies watchers of changes of a job."""

from __future__ import annotations

import threading
from collections.abc import Callable

from footplate.domain.names import JobUid


class Watchers:
    """The watchers of jobs; a job that nobody watches costs nothing."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_job: dict[JobUid, dict[object, Callable[[], None]]] = {}
        self._changes = 0
        self._of_all: Callable[[], None] = lambda: None

    @property
    def changes(self) -> int:
        """Returns a number that grows with each change of any job."""
        return self._changes

    def watch_all(self, changed: Callable[[], None]) -> None:
        """Calls ``changed`` from now on with each change of any job; it must not block."""
        self._of_all = changed

    def add(self, uid: JobUid, changed: Callable[[], None]) -> Callable[[], None]:
        """Calls ``changed`` with each change of a job; returns a function that ends this."""
        key = object()
        with self._lock:
            self._by_job.setdefault(uid, {})[key] = changed

        def remove() -> None:
            with self._lock:
                watchers = self._by_job.get(uid, {})
                watchers.pop(key, None)
                if not watchers:
                    self._by_job.pop(uid, None)

        return remove

    def wake(self, uid: JobUid) -> None:
        with self._lock:
            self._changes += 1
            watchers = tuple(self._by_job.get(uid, {}).values())
        for changed in watchers:
            changed()
        self._of_all()

    def wake_all(self) -> None:
        with self._lock:
            self._changes += 1
            uids = tuple(self._by_job)
        for uid in uids:
            self.wake(uid)
        self._of_all()
