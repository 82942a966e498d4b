"""The store port over SQL; see ``footplate.ports.store.Store`` for what each method promises."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from sqlalchemy import String, bindparam, delete, func, insert, select, tuple_, update
from sqlalchemy.exc import IntegrityError

from footplate.domain.errors import Aborted, AlreadyExists, DataLoss, NotFound
from footplate.domain.states import State
from footplate.ports.notices import NoticeKind
from footplate.ports.store import ACTIVE, Page
from footplate.store import codec
from footplate.store.checks import storable
from footplate.store.conditions import condition
from footplate.store.documents import write_labels
from footplate.store.events import append_events, select_events
from footplate.store.leases import SoleLeases, SqlLeases, fence
from footplate.store.listening import Listener
from footplate.store.paging import Position
from footplate.store.quotas import SqlQuotas
from footplate.store.servers import SoleServer, SqlServers
from footplate.store.studies.studies import SqlStudies
from footplate.store.tables import job_labels, jobs, studies
from footplate.store.transactions import Transactions

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from sqlalchemy import Connection, Engine, Select

    from footplate.domain.filters import Filter
    from footplate.domain.jobs import Job, JobEvent
    from footplate.domain.names import JobName, JobUid
    from footplate.ports.leases import Lease, Leases
    from footplate.ports.notices import Notice
    from footplate.ports.servers import Servers
    from footplate.ports.store import StoredEvent
    from footplate.store.codec import Record

_ACTIVE = [state.value for state in ACTIVE]
_log = logging.getLogger(__name__)
_PLACE = tuple_(jobs.c.create_time, jobs.c.uid)

_WANTED = bindparam("wanted", type_=String)
_BY_NAME = select(jobs).where(jobs.c.name == _WANTED)
_BY_UID = select(jobs).where(jobs.c.uid == _WANTED)
_DECISIVE = select(jobs.c.uid, jobs.c.version, jobs.c.labels).with_for_update()
_LOCK_BY_NAME = _DECISIVE.where(jobs.c.name == _WANTED)
_LOCK_BY_UID = _DECISIVE.where(jobs.c.uid == _WANTED)
_IN_STATES = (
    select(jobs)
    .where(jobs.c.state.in_(bindparam("states", expanding=True)))
    .order_by(jobs.c.create_time, jobs.c.uid)
)
_UPDATE = update(jobs).where(jobs.c.uid == _WANTED)
_INSERT = insert(jobs)
"""What is asked and written most often, put together once: that takes as long as the rest."""


class SqlStore:
    """Jobs in SQL, and ``quotas`` and ``studies`` in the same database.

    Any number of threads may call it; ``close`` comes after the last call.
    """

    def __init__(self, engine: Engine, server: str = "") -> None:
        """``server``: who writes, for the notices to others."""
        self._engine = engine
        self._server = server
        self._use(Transactions(engine, server))

    def _use(self, transactions: Transactions) -> None:
        self._transactions = transactions
        self.quotas = SqlQuotas(transactions)
        self.studies = SqlStudies(transactions)

    @property
    def several(self) -> bool:
        """Whether several servers may use the database at once."""
        return self._transactions.several

    def leases(self) -> Leases:
        return SqlLeases(self._transactions) if self.several else SoleLeases()

    def servers(self) -> Servers:
        return SqlServers(self._transactions) if self.several else SoleServer()

    def fenced(self, lease: Lease) -> SqlStore:
        """The same store, which writes nothing any more once another lease was taken.

        Writes then raise NotLeading. It is closed with this one.
        """
        if not self.several:
            return self
        store = SqlStore(self._engine, self._server)
        store._use(self._transactions.guarded(fence(lease)))
        return store

    def listen(self, hear: Callable[[Notice], None], missed: Callable[[], None]) -> Listener | None:
        """Hear what other servers write; None: there are none.

        ``missed`` is called when anything may have been written unheard.
        """
        return Listener(self._engine, self._server, hear, missed) if self.several else None

    def create(self, job: Job, events: Sequence[JobEvent]) -> None:
        values = codec.job_values(job)
        with self._transactions.writing() as connection:
            if job.tuning_job is not None:
                _lock_tuning_job(connection, job.tuning_job)
            try:
                connection.execute(_INSERT, values)
            except IntegrityError as error:
                raise AlreadyExists(f"{job.name} already exists") from error
            _index_labels(connection, job)
            append_events(connection, job.uid, events)
            kind = NoticeKind.JOB if job.spec.search is None else NoticeKind.SEARCH
            self._transactions.tell(connection, kind, job.uid)

    def get(self, name: JobName) -> Job:
        return self._get(_BY_NAME, str(name))

    def get_by_uid(self, uid: JobUid) -> Job:
        return self._get(_BY_UID, uid)

    def update(self, job: Job, events: Sequence[JobEvent]) -> None:
        values = codec.job_values(job)
        with self._transactions.writing() as connection:
            stored = _lock(connection, _LOCK_BY_UID, job.uid)
            _guard(stored, job.version - 1)
            connection.execute(_UPDATE, {**values, _WANTED.key: job.uid})
            if stored.labels != write_labels(job.labels):
                connection.execute(delete(job_labels).where(job_labels.c.job_uid == job.uid))
                _index_labels(connection, job)
            append_events(connection, job.uid, events)
            self._transactions.tell(connection, NoticeKind.JOB, job.uid)

    def append(self, uid: JobUid, events: Sequence[JobEvent]) -> None:
        with self._transactions.writing() as connection:
            _lock(connection, _LOCK_BY_UID, uid)
            append_events(connection, uid, events)
            self._transactions.tell(connection, NoticeKind.EVENTS, uid)

    def delete(self, name: JobName, version: int) -> None:
        with self._transactions.writing() as connection:
            stored = _lock(connection, _LOCK_BY_NAME, str(name))
            _guard(stored, version)
            removed = delete(jobs).where(jobs.c.tuning_job == stored.uid).returning(jobs.c.uid)
            runs = connection.scalars(removed).all()
            connection.execute(delete(studies).where(studies.c.uid == stored.uid))
            connection.execute(delete(jobs).where(jobs.c.uid == stored.uid))
            self._transactions.tell(connection, NoticeKind.JOB, stored.uid, *runs)

    def list(self, collection: str, *, where: Filter | None, limit: int, after: str | None) -> Page:
        query = select(jobs).where(jobs.c.collection == collection, condition(where))
        if after is not None:
            position = Position.parse(after)
            query = query.where(tuple_(position.create_time, position.uid) > _PLACE)
        query = query.order_by(jobs.c.create_time.desc(), jobs.c.uid.desc()).limit(limit + 1)
        if not (collection and storable(collection)):
            return Page((), None)
        with self._transactions.reading() as connection:
            rows = connection.execute(query).all()
        found = tuple(codec.job_of(row) for row in rows[:limit])
        return Page(found, Position.of(found[-1]).key() if len(rows) > limit else None)

    def active(self, states: Collection[State] = ACTIVE) -> tuple[Job, ...]:
        wanted = {"states": [state.value for state in states]}
        with self._transactions.reading() as connection:
            rows = connection.execute(_IN_STATES, wanted).all()
        return tuple(job for job in map(_readable, rows) if job is not None)

    def counts(self) -> dict[State, int]:
        query = select(jobs.c.state, func.count()).group_by(jobs.c.state)
        with self._transactions.reading() as connection:
            rows = connection.execute(query.where(jobs.c.state.in_(_ACTIVE))).all()
        return {State(state): count for state, count in rows}

    def runs(self, uid: JobUid) -> tuple[Job, ...]:
        if not storable(uid):
            return ()
        query = select(jobs).where(jobs.c.tuning_job == uid)
        # Of those made at once, job-9 before job-10.
        order = (jobs.c.create_time, func.length(jobs.c.job_id), jobs.c.job_id, jobs.c.uid)
        with self._transactions.reading() as connection:
            rows = connection.execute(query.order_by(*order)).all()
        return tuple(codec.job_of(row) for row in rows)

    def events(self, uid: JobUid, after: int = 0, limit: int = 1000) -> tuple[StoredEvent, ...]:
        if not storable(uid):
            return ()
        with self._transactions.reading() as connection:
            return select_events(connection, uid, after, limit)

    def close(self) -> None:
        self._transactions.close()

    def _get(self, query: Select[Any], value: str) -> Job:
        if not storable(value):
            raise _unknown(value)
        with self._transactions.reading() as connection:
            row = connection.execute(query, {_WANTED.key: value}).one_or_none()
        if row is None:
            raise _unknown(value)
        return codec.job_of(row)


def _readable(row: Record) -> Job | None:
    try:
        return codec.job_of(row)
    except DataLoss as error:
        _log.error("%s; it is left alone", error.message)
        return None


def _lock(connection: Connection, query: Select[Any], value: str) -> Record:
    """What of the job decides about a write; until the commit nobody else changes it."""
    known = storable(value)
    row = connection.execute(query, {_WANTED.key: value}).one_or_none() if known else None
    if row is None:
        raise _unknown(value)
    return row


def _lock_tuning_job(connection: Connection, uid: JobUid) -> None:
    """It stays until the commit: its deletion finds the run that is made meanwhile."""
    query = select(jobs.c.uid).where(jobs.c.uid == uid, jobs.c.tuning_job.is_(None))
    if not storable(uid) or connection.execute(query.with_for_update()).one_or_none() is None:
        raise NotFound(f"there is no tuning job {uid!a}")


def _guard(stored: Record, version: int) -> None:
    if stored.version != version:
        raise Aborted(f"job {stored.uid} is at version {stored.version}, not {version}")


def _index_labels(connection: Connection, job: Job) -> None:
    if rows := codec.label_values(job):
        connection.execute(insert(job_labels), rows)


def _unknown(job: str) -> NotFound:
    return NotFound(f"{ascii(job) if not storable(job) else job} does not exist")
