"""The store port over SQL; see ``footplate.ports.store.Store`` for what each method promises."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import String, bindparam, delete, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from footplate.domain.daily_hours import RunningTimes
from footplate.domain.errors import Aborted, DataLoss, NotFound, Unavailable, name_taken
from footplate.domain.filters import Filter
from footplate.domain.job_order import JobOrder
from footplate.domain.job_states import State
from footplate.domain.jobs import Job, JobEvent
from footplate.domain.names import JobName, JobUid
from footplate.domain.output_directories import LEAVES, output_directory
from footplate.domain.text_validation import storable
from footplate.domain.tracking.log_uploads import LogUpload
from footplate.ports.leases import Lease, Leases
from footplate.ports.notifications import Notice, NoticeKind
from footplate.ports.servers import Servers
from footplate.ports.store import ACTIVE, Page, StoredEvent
from footplate.store import row_codec
from footplate.store.documents import UploadBody, read, write
from footplate.store.events import append_events, select_events
from footplate.store.input_checks import check_filter
from footplate.store.list_query import Section, find_jobs
from footplate.store.models import SqlModels
from footplate.store.named_rows import unknown
from footplate.store.ordered_list import find_in_order, order_key, parse_order_key
from footplate.store.paging import Position, make_page
from footplate.store.persistent_resources import SqlPersistentResources
from footplate.store.pipeline_rows import is_row_of_its_own
from footplate.store.postgres_listen import Listener
from footplate.store.preallocation import keep_room, kept_log
from footplate.store.quotas import SqlQuotas
from footplate.store.running_times import read_running_times
from footplate.store.servers import SingleServer, SingleServerLeases, SqlLeases, SqlServers, fence
from footplate.store.studies.studies import SqlStudies
from footplate.store.tables import job_labels, jobs, studies
from footplate.store.tables import log_uploads as table
from footplate.store.tracking import SqlTracking
from footplate.store.transactions import Transactions
from footplate.store.upsert import upsert

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine, Select

    from footplate.store.row_codec import Record


_ACTIVE = [state.value for state in ACTIVE]
_MOST_WRITING = 1000
_log = logging.getLogger(__name__)

_WANTED = bindparam("wanted", type_=String)
_BY_NAME = select(jobs).where(jobs.c.name == _WANTED)
_BY_UID = select(jobs).where(jobs.c.uid == _WANTED)
_INDEXED = (
    *(jobs.c.labels, jobs.c.collection, jobs.c.create_time),
    *(jobs.c.job_id_folded, jobs.c.display_name_folded),
)
_DECISIVE = select(jobs.c.uid, jobs.c.version, *_INDEXED).with_for_update()
_LOCK_BY_NAME = _DECISIVE.where(jobs.c.name == _WANTED)
_LOCK_BY_UID = _DECISIVE.where(jobs.c.uid == _WANTED)
_IN_STATES = (
    select(jobs)
    .where(jobs.c.state.in_(bindparam("states", expanding=True)))
    .order_by(jobs.c.create_time, jobs.c.uid)
)
_NEXT_COLLECTION = select(func.min(jobs.c.collection)).where(jobs.c.collection > _WANTED)
_UPDATE = update(jobs).where(jobs.c.uid == _WANTED)
_INSERT = insert(jobs)
"""What is asked and written most often, put together once: that takes as long as the rest."""


class SqlStore:
    """The store of jobs in SQL; other stores in the same database are its attributes.

    These are ``quotas``, ``studies``, ``models``, ``tracking``, ``persistent_resources`` and
    ``log_uploads``. Any number of threads may call it; ``close`` comes after the last call.
    """

    def __init__(self, engine: Engine, server: str = "") -> None:
        """Prepares the stores; ``server`` is the writer that notifications to others name."""
        self._engine = engine
        self._server = server
        self._use(Transactions(engine, server))

    def _use(self, transactions: Transactions) -> None:
        self._transactions = transactions
        self.quotas = SqlQuotas(transactions)
        self.studies = SqlStudies(transactions)
        self.models = SqlModels(transactions)
        self.persistent_resources = SqlPersistentResources(transactions)
        self.tracking = SqlTracking(transactions)
        self.log_uploads = SqlLogUploads(transactions)

    @property
    def several(self) -> bool:
        """Returns whether several servers may use the database at once."""
        return self._transactions.several

    def leases(self) -> Leases:
        return SqlLeases(self._transactions) if self.several else SingleServerLeases()

    def servers(self) -> Servers:
        return SqlServers(self._transactions) if self.several else SingleServer()

    def fenced(self, lease: Lease) -> SqlStore:
        """Returns a store of the same data that stops writing once another server takes the lease.

        Writes then raise NotLeading. Closing this store closes the other one as well.
        """
        if not self.several:
            return self
        store = SqlStore(self._engine, self._server)
        store._use(self._transactions.guarded(fence(lease)))
        return store

    def listen(
        self, receive: Callable[[Notice], None], missed: Callable[[], None]
    ) -> Listener | None:
        """Listens to writes of other servers; None: there can't be any.

        ``missed`` is called when notifications may have been lost.
        """
        return Listener(self._engine, self._server, receive, missed) if self.several else None

    def create(self, job: Job, events: Sequence[JobEvent]) -> None:
        values = row_codec.job_values(job)
        with self._transactions.writing() as connection:
            if job.tuning_job is not None:
                _lock_tuning_job(connection, job.tuning_job)
            try:
                connection.execute(_INSERT, values)
            except IntegrityError as error:
                raise name_taken(job.name) from error
            _index_labels(connection, job)
            append_events(connection, job.uid, events)
            kind = NoticeKind.JOB if job.spec.runs_itself else NoticeKind.SEARCH
            self._transactions.tell(connection, kind, job.uid)

    def get(self, name: JobName) -> Job:
        return self._get(_BY_NAME, str(name))

    def get_by_uid(self, uid: JobUid) -> Job:
        return self._get(_BY_UID, uid)

    def update(self, job: Job, events: Sequence[JobEvent]) -> None:
        with self._transactions.writing() as connection:
            _, version, *indexed = _lock(connection, _LOCK_BY_UID, job.uid)
            values = row_codec.job_values(job)
            _guard(job.uid, version, job.version - 1)
            connection.execute(_UPDATE, {**values, _WANTED.key: job.uid})
            if indexed != _indexed(job):
                connection.execute(delete(job_labels).where(job_labels.c.job_uid == job.uid))
                _index_labels(connection, job)
            append_events(connection, job.uid, events)
            self._transactions.tell(connection, NoticeKind.JOB, job.uid)

    def append(self, uid: JobUid, events: Sequence[JobEvent]) -> None:
        with self._transactions.writing() as connection:
            # Events are numbered after the last one, so two appends to one job must not overlap.
            _lock(connection, _LOCK_BY_UID, uid)
            append_events(connection, uid, events)
            self._transactions.tell(connection, NoticeKind.EVENTS, uid)

    def delete(self, name: JobName, version: int) -> None:
        with self._transactions.writing() as connection:
            stored = _lock(connection, _LOCK_BY_NAME, str(name))
            _guard(stored.uid, stored.version, version)
            removed = delete(jobs).where(jobs.c.tuning_job == stored.uid).returning(jobs.c.uid)
            runs = connection.scalars(removed).all()
            connection.execute(delete(studies).where(studies.c.uid == stored.uid))
            connection.execute(delete(jobs).where(jobs.c.uid == stored.uid))
            self._transactions.tell(connection, NoticeKind.JOB, stored.uid, *runs)

    def list(self, collection: str, *, where: Filter | None, limit: int, after: str | None) -> Page:
        return self.list_several({collection: where}, limit=limit, after=after)

    def collections(self) -> tuple[str, ...]:
        found: list[str] = []
        with self._transactions.reading() as connection:
            # One seek in the index for each: DISTINCT would read all of it.
            while name := connection.scalar(_NEXT_COLLECTION, {_WANTED.key: (found or [""])[-1]}):
                found.append(name)
        return tuple(found)

    def list_several(
        self,
        lists: Mapping[str, Filter | None],
        *,
        limit: int,
        after: str | None = None,
        before: str | None = None,
        once: bool = False,
    ) -> Page:
        section = Section(
            below=None if after is None else Position.parse(after),
            above=None if before is None else Position.parse(before),
            oldest_first=before is not None,
        )
        for where in lists.values():
            if where is not None:
                check_filter(where)
        wanted = [(name, where) for name, where in lists.items() if name and storable(name)]
        rows: list[Record] = []
        with self._transactions.reading() as connection:
            for name, where in wanted:
                also = is_row_of_its_own(lists, name) if once else None
                rows += find_jobs(connection, name, where, section, limit + 1, also)
                if len(wanted) > 1:
                    rows.sort(key=_place, reverse=not section.oldest_first)
                if len(rows) > limit:  # of the other lists only what comes before these
                    del rows[limit + 1 :]
                    section = section.up_to(_place(rows[-1]))
        return make_page([*map(row_codec.job_of, rows)], limit, after=after, before=before)

    def list_in_order(
        self,
        lists: Mapping[str, Filter | None],
        order: JobOrder,
        *,
        limit: int,
        after: str | None = None,
        once: bool = False,
    ) -> Page:
        behind = None if after is None else parse_order_key(after, order)
        for where in lists.values():
            if where is not None:
                check_filter(where)
        wanted = {name: where for name, where in lists.items() if name and storable(name)}
        with self._transactions.reading() as connection:
            rows = find_in_order(connection, wanted, order, limit + 1, behind, once=once)
        found = tuple(row_codec.job_of(row) for row in rows[:limit])
        return Page(found, order_key(found[-1], order) if len(rows) > limit else None)

    def active(self, states: Collection[State] = ACTIVE) -> tuple[Job, ...]:
        wanted = {"states": [state.value for state in states]}
        with self._transactions.reading() as connection:
            rows = connection.execute(_IN_STATES, wanted).all()
        return tuple(job for job in map(_readable, rows) if job is not None)

    def writing_to(self, directory: str) -> tuple[Job, ...]:
        # No index knows directories: this reads all specs, and only few jobs ask for it.
        texts = [json.dumps(directory + leaf) for leaf in LEAVES]
        named = (jobs.c.spec.contains(text, autoescape=True, escape="!") for text in texts)
        query = select(jobs).where(jobs.c.tuning_job.is_(None), or_(*named))
        newest = query.order_by(jobs.c.create_time.desc(), jobs.c.uid.desc())
        with self._transactions.reading() as connection:
            rows = connection.execute(newest.limit(_MOST_WRITING)).all()
        found = (job for job in map(_readable, rows) if job is not None)
        return tuple(job for job in found if output_directory(job.spec) == directory)

    def counts(self, *, runs: bool = False) -> dict[State, int]:
        of = jobs.c.tuning_job.is_not(None) if runs else jobs.c.tuning_job.is_(None)
        query = select(jobs.c.state, func.count()).group_by(jobs.c.state).where(of)
        with self._transactions.reading() as connection:
            rows = connection.execute(query.where(jobs.c.state.in_(_ACTIVE))).all()
        return {State(state): count for state, count in rows}

    def running_times(self, begin: datetime, end: datetime) -> tuple[RunningTimes, ...]:
        with self._transactions.reading() as connection:
            return read_running_times(connection, begin, end)

    def runs(self, uid: JobUid) -> tuple[Job, ...]:
        if not storable(uid):
            return ()
        query = select(jobs).where(jobs.c.tuning_job == uid)
        # Of those made at once, job-9 before job-10.
        order = (jobs.c.create_time, func.length(jobs.c.job_id), jobs.c.job_id, jobs.c.uid)
        with self._transactions.reading() as connection:
            rows = connection.execute(query.order_by(*order)).all()
        return tuple(row_codec.job_of(row) for row in rows)

    def events(self, uid: JobUid, after: int = 0, limit: int = 1000) -> tuple[StoredEvent, ...]:
        if not storable(uid):
            return ()
        with self._transactions.reading() as connection:
            return select_events(connection, uid, after, limit)

    def keep_room(self) -> None:
        """Preallocates space in SQLite's files for later writes, if the disk has any."""
        if not self.several:
            with suppress(OSError, Unavailable):  # SQLite reports it when it writes
                keep_room(self._engine, self._transactions)

    def uids(self) -> set[JobUid]:
        """Returns the uids of all jobs."""
        with self._transactions.reading() as connection:
            return set(connection.scalars(select(jobs.c.uid)))

    def ping(self) -> None:
        """Checks the connection. Raises Unavailable: the database doesn't answer."""
        with self._transactions.reading() as connection:
            connection.execute(select(1))

    def close(self) -> None:
        if self.several:
            self._transactions.close()
        else:
            with kept_log(self._engine):
                self._transactions.close()

    def _get(self, query: Select[Any], value: str) -> Job:
        if not storable(value):
            raise unknown(value)
        with self._transactions.reading() as connection:
            row = connection.execute(query, {_WANTED.key: value}).one_or_none()
        if row is None:
            raise unknown(value)
        return row_codec.job_of(row)


def _place(row: Record) -> Position:
    return Position(row.create_time, row.uid)


def _readable(row: Record) -> Job | None:
    try:
        return row_codec.job_of(row)
    except DataLoss as error:
        _log.error("%s; lists of jobs leave this job out", error.message)
        return None


def _lock(connection: Connection, query: Select[Any], value: str) -> Record:
    """Reads and locks the row that a write depends on, so that it stays until the commit."""
    known = storable(value)
    row = connection.execute(query, {_WANTED.key: value}).one_or_none() if known else None
    if row is None:
        raise unknown(value)
    return row


def _lock_tuning_job(connection: Connection, uid: JobUid) -> None:
    """Locks a tuning job until the commit, so that its deletion finds a run created meanwhile."""
    query = select(jobs.c.uid).where(jobs.c.uid == uid, jobs.c.tuning_job.is_(None))
    if not storable(uid) or connection.execute(query.with_for_update()).one_or_none() is None:
        raise NotFound(f"there is no tuning job {uid!a}")


def _guard(uid: JobUid, stored: int, version: int) -> None:
    if stored != version:
        raise Aborted(f"job {uid} has changed: it is at version {stored}, not {version}")


def _indexed(job: Job) -> list[Any]:
    """Returns the job's values of the columns ``_INDEXED``; Any, as in a row."""
    return [row_codec.labels_document(job), *row_codec.listed_values(job).values()]


def _index_labels(connection: Connection, job: Job) -> None:
    if rows := row_codec.label_values(job):
        connection.execute(insert(job_labels), rows)


class SqlLogUploads:
    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def put(self, upload: LogUpload) -> None:
        body = UploadBody(upload.experiment, upload.directory, upload.positions, upload.trial)
        with self._transactions.writing() as connection:
            upsert(connection, table, [{"uid": upload.uid, "body": write(body)}], "body")

    def all(self) -> tuple[LogUpload, ...]:
        with self._transactions.reading() as connection:
            rows = connection.execute(select(table).order_by(table.c.uid)).all()
        found = ((JobUid(row.uid), read(UploadBody, row.body)) for row in rows)
        return tuple(LogUpload(uid=uid, **vars(body)) for uid, body in found)

    def delete(self, uid: JobUid) -> None:
        with self._transactions.writing() as connection:
            connection.execute(delete(table).where(table.c.uid == uid))
