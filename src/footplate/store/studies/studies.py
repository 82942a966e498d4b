"""The studies port over SQL; see ``footplate.ports.studies.StudyStore``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, select, tuple_, update
from sqlalchemy.exc import IntegrityError

from footplate.domain.errors import Aborted, AlreadyExists, NotFound
from footplate.domain.names import StudyName, StudyUid
from footplate.domain.studies.records import Report, StoredReport, StudyRecord, TrialRecord
from footplate.domain.text_validation import storable
from footplate.ports.notifications import NoticeKind
from footplate.ports.pages import Page
from footplate.ports.studies import MAX_REPORTS, StudyWithTrials
from footplate.store.input_checks import countable
from footplate.store.named_rows import unknown
from footplate.store.paging import Position, first_page
from footplate.store.studies import rows
from footplate.store.tables import studies, study_earlier, study_models, trial_reports, trials
from footplate.store.tables import trials as trial_rows
from footplate.store.transactions import Transactions
from footplate.store.upsert import upsert

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

    from footplate.store.row_codec import Record


_KEYS_AT_ONCE = 500
"""Both engines bound the number of a statement's parameters, SQLite at 32,766."""

_LARGEST = 2**63 - 1

_of = trial_reports.c


def append_reports(
    connection: Connection, uid: StudyUid, number: int, reports: Sequence[Report], most: int
) -> int:
    """Stores reports with new keys, up to ``most`` a trial; returns how many it stored.

    Raises:
        NotFound: the trial doesn't exist.
    """
    query = select(trials.c.reports).where(_trial(uid, number))
    kept = connection.scalar(query) if countable(number) else None
    if kept is None:
        raise NotFound(f"study {uid} has no trial {number}")
    fresh = _fresh(connection, uid, number, reports)[: max(0, most - kept)]
    if fresh:
        _insert(connection, uid, number, fresh)
        count = {"reports": kept + len(fresh)}
        connection.execute(update(trials).where(_trial(uid, number)).values(count))
    return len(fresh)


def select_reports(
    connection: Connection, uid: StudyUid, number: int | None, after: int, limit: int
) -> tuple[StoredReport, ...]:
    behind = _of.position > min(after, _LARGEST)
    query = select(trial_reports).where(_of.study_uid == uid, behind)
    if number is not None:
        if not countable(number):
            return ()
        query = query.where(_of.number == number)
    found = connection.execute(query.order_by(_of.position).limit(limit))
    return tuple(rows.report_of(row) for row in found)


def _insert(connection: Connection, uid: StudyUid, number: int, fresh: Sequence[Report]) -> None:
    """Inserts reports, with positions after the last one that the study ever used."""
    here = studies.c.uid == uid
    # Not the highest position that is stored: if the last reports were deleted with their trial,
    # their positions would be used again, and a reader that continues after them would miss the
    # new reports.
    last = connection.scalar(select(studies.c.last_position).where(here)) or 0
    values = [rows.report_values(uid, number, last + n, r) for n, r in enumerate(fresh, 1)]
    connection.execute(insert(trial_reports), values)
    connection.execute(update(studies).where(here).values(last_position=last + len(fresh)))


def _fresh(
    connection: Connection, uid: StudyUid, number: int, reports: Sequence[Report]
) -> list[Report]:
    by_digest = {rows.digest(report.key): report for report in reversed(reports)}
    first_told = dict(reversed(by_digest.items()))
    known = _known(connection, uid, number, list(first_told))
    return [report for digest, report in first_told.items() if digest not in known]


def _known(connection: Connection, uid: StudyUid, number: int, digests: list[str]) -> set[str]:
    known: set[str] = set()
    for start in range(0, len(digests), _KEYS_AT_ONCE):
        asked = digests[start : start + _KEYS_AT_ONCE]
        query = select(_of.key_digest).where(
            _of.study_uid == uid, _of.number == number, _of.key_digest.in_(asked)
        )
        known.update(connection.scalars(query))
    return known


def _trial(uid: StudyUid, number: int) -> ColumnElement[bool]:
    return (trials.c.study_uid == uid) & (trials.c.number == number)


_PLACE = tuple_(studies.c.create_time, studies.c.uid)
_WHOLE = select(studies, study_earlier.c.body.label("earlier")).outerjoin(study_earlier)


class SqlStudies:
    """Stores studies in SQL; any number of threads and servers may use it at once."""

    def __init__(self, transactions: Transactions, max_reports: int = MAX_REPORTS) -> None:
        self._transactions = transactions
        self._max_reports = max_reports

    def create(self, study: StudyRecord) -> None:
        values = {**rows.study_values(study), "last_position": 0}
        earlier = rows.earlier_document(study)
        with self._transactions.writing() as connection:
            try:
                connection.execute(insert(studies).values(values))
            except IntegrityError as error:
                raise _taken(study, error) from error
            if study.earlier:
                document = {"study_uid": study.uid, "body": earlier}
                connection.execute(insert(study_earlier).values(document))
            self._notify(connection, study.uid)

    def load(self, uid: StudyUid) -> StudyWithTrials:
        return self._kept(studies.c.uid, uid)

    def find(self, name: StudyName) -> StudyWithTrials:
        return self._kept(studies.c.name, str(name))

    def lookup(self, collection: str, display_name: str) -> StudyRecord:
        digest = rows.digest(display_name)
        row = None
        if storable(collection):
            query = _WHOLE.where(
                studies.c.collection == collection, studies.c.display_digest == digest
            )
            with self._transactions.reading() as connection:
                row = connection.execute(query).one_or_none()
        if row is None:
            raise NotFound(f"{collection!a} has no study with the display name {display_name!a}")
        return rows.study_of(row)

    def list(self, collection: str, *, limit: int, after: str | None) -> Page[StudyRecord]:
        query = _WHOLE.where(studies.c.collection == collection)
        if after is not None:
            position = Position.parse(after)
            query = query.where(tuple_(position.create_time, position.uid) > _PLACE)
        query = query.order_by(studies.c.create_time.desc(), studies.c.uid.desc())
        if not storable(collection):
            return Page((), None)
        with self._transactions.reading() as connection:
            found = connection.execute(query.limit(limit + 1)).all()
        return first_page(map(rows.study_of, found), limit, Position.of)

    def write(
        self,
        study: StudyRecord,
        trials: Sequence[TrialRecord] = (),
        models: Mapping[int, Mapping[str, object]] | None = None,
        dropped: Sequence[int] = (),
    ) -> None:
        values = rows.study_values(study)
        fitted = [rows.model_values(study.uid, n, model) for n, model in (models or {}).items()]
        with self._transactions.writing() as connection:
            _guard(_lock(connection, study.uid), study.version - 1)
            connection.execute(update(studies).where(studies.c.uid == study.uid).values(values))
            written = [rows.trial_values(study.uid, trial) for trial in trials]
            upsert(connection, trial_rows, written, "body")
            upsert(connection, study_models, fitted, "body")
            _drop(connection, study.uid, dropped)
            self._notify(connection, study.uid)

    def model(self, uid: StudyUid, finished: int) -> Mapping[str, object] | None:
        if not (storable(uid) and countable(finished)):
            return None
        here = (study_models.c.study_uid == uid) & (study_models.c.finished == finished)
        with self._transactions.reading() as connection:
            text = connection.scalar(select(study_models.c.body).where(here))
        return None if text is None else rows.model_of(uid, finished, text)

    def report(self, uid: StudyUid, number: int, reports: Sequence[Report]) -> int:
        with self._transactions.writing() as connection:
            _lock(connection, uid)
            new = append_reports(connection, uid, number, reports, self._max_reports)
            self._notify(connection, uid)
        return new

    def reports(
        self, uid: StudyUid, number: int | None = None, after: int = 0, limit: int = 100_000
    ) -> tuple[StoredReport, ...]:
        if not storable(uid):
            return ()
        with self._transactions.reading() as connection:
            return select_reports(connection, uid, number, after, limit)

    def delete(self, uid: StudyUid) -> None:
        if not storable(uid):
            return
        with self._transactions.writing() as connection:
            connection.execute(delete(studies).where(studies.c.uid == uid))
            self._notify(connection, uid)

    def _notify(self, connection: Connection, uid: StudyUid) -> None:
        self._transactions.tell(connection, NoticeKind.STUDY, uid)

    def _kept(self, column: ColumnElement[str | None], value: str) -> StudyWithTrials:
        if not storable(value):
            raise unknown(value)
        with self._transactions.snapshot() as connection:
            row = connection.execute(_WHOLE.where(column == value)).one_or_none()
            if row is None:
                raise unknown(value)
            study = rows.study_of(row)
            return StudyWithTrials(study, _trials(connection, study.uid))


def _trials(connection: Connection, uid: StudyUid) -> tuple[TrialRecord, ...]:
    here = select(trial_rows).where(trial_rows.c.study_uid == uid)
    found = connection.execute(here.order_by(trial_rows.c.number)).all()
    return tuple(rows.trial_of(trial) for trial in found)


def _drop(connection: Connection, uid: StudyUid, numbers: Sequence[int]) -> None:
    for number in numbers:
        here = (trial_rows.c.study_uid == uid) & (trial_rows.c.number == number)
        connection.execute(delete(trial_rows).where(here))


def _lock(connection: Connection, uid: StudyUid) -> Record:
    """Reads and locks the row that a write depends on, so that it stays until the commit."""
    query = select(studies.c.uid, studies.c.version).where(studies.c.uid == uid)
    row = connection.execute(query.with_for_update()).one_or_none() if storable(uid) else None
    if row is None:
        raise unknown(uid)
    return row


def _guard(stored: Record, version: int) -> None:
    if stored.version != version:
        raise Aborted(
            f"study {stored.uid} has changed: it is at version {stored.version}, not {version}"
        )


def _taken(study: StudyRecord, error: IntegrityError) -> AlreadyExists:
    if study.name is not None and "display_digest" in str(error.orig):
        where = study.name.collection
        return AlreadyExists(
            f"{where} already has a study with the display name {study.display_name!r}"
        )
    return AlreadyExists(f"study {study.name or study.uid} already exists")
