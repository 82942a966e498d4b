"""A store that tells of what is written: followers needn't look whether a job has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.ports.store import ACTIVE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from footplate.domain.filters import Filter
    from footplate.domain.jobs import Job, JobEvent
    from footplate.domain.names import JobName, JobUid
    from footplate.domain.states import State
    from footplate.ports.store import Page, Store, StoredEvent


class TellingStore:
    """``inner``, which tells of each write after it.

    ``changed`` is called with the job, ``appended`` with one of which only the events are more.
    A write that failed is told as well: it may have happened nevertheless.
    """

    def __init__(
        self, inner: Store, changed: Callable[[JobUid], None], appended: Callable[[JobUid], None]
    ) -> None:
        self._inner = inner
        self._changed = changed
        self._appended = appended

    def create(self, job: Job, events: Sequence[JobEvent]) -> None:
        try:
            self._inner.create(job, events)
        finally:
            self._changed(job.uid)

    def update(self, job: Job, events: Sequence[JobEvent]) -> None:
        try:
            self._inner.update(job, events)
        finally:
            self._changed(job.uid)

    def append(self, uid: JobUid, events: Sequence[JobEvent]) -> None:
        try:
            self._inner.append(uid, events)
        finally:
            self._appended(uid)

    def delete(self, name: JobName, version: int) -> None:
        uid = self._inner.get(name).uid
        try:
            self._inner.delete(name, version)
        finally:
            self._changed(uid)

    def get(self, name: JobName) -> Job:
        return self._inner.get(name)

    def get_by_uid(self, uid: JobUid) -> Job:
        return self._inner.get_by_uid(uid)

    def list(self, collection: str, *, where: Filter | None, limit: int, after: str | None) -> Page:
        return self._inner.list(collection, where=where, limit=limit, after=after)

    def active(self, states: Collection[State] = ACTIVE) -> tuple[Job, ...]:
        return self._inner.active(states)

    def counts(self) -> dict[State, int]:
        return self._inner.counts()

    def events(self, uid: JobUid, after: int = 0, limit: int = 1000) -> tuple[StoredEvent, ...]:
        return self._inner.events(uid, after, limit)

    def close(self) -> None:
        self._inner.close()
