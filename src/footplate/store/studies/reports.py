"""Appends and reads reports of trials."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import insert, select, update

from footplate.domain.errors import NotFound
from footplate.store.input_checks import countable
from footplate.store.studies import rows
from footplate.store.tables import studies, trial_reports, trials

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Connection

    from footplate.domain.names import StudyUid
    from footplate.domain.studies.records import Report, StoredReport

_KEYS_AT_ONCE = 500
"""Both engines bound the number of a statement's parameters, SQLite at 32,766."""

_LARGEST = 2**63 - 1

_of = trial_reports.c


def append_reports(
    connection: Connection, uid: StudyUid, number: int, reports: Sequence[Report], most: int
) -> int:
    """Keep those whose keys are new, as long as the trial has no more than ``most``; how many.

    Raises:
        NotFound: there is no such trial.
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
    """Positions go on from the last one that the study ever gave."""
    here = studies.c.uid == uid
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
