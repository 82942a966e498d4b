"""Converts jobs and events to rows and back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from footplate.domain.errors import DataLoss, NotFound
from footplate.domain.job_states import State
from footplate.domain.jobs import Job
from footplate.domain.names import JobUid, parse_job_name
from footplate.ports.store import StoredEvent
from footplate.store import job_documents
from footplate.store.input_checks import check_texts
from footplate.store.timestamps import (
    from_micros,
    from_micros_or_none,
    to_micros,
    to_micros_or_none,
)

if TYPE_CHECKING:
    from sqlalchemy import Row

    from footplate.domain.jobs import JobEvent

    Record = Row[*tuple[Any, ...]]
    """A row as it was selected; Any, as in SQLAlchemy."""

Values = dict[str, Any]
"""A row to be written, column by column."""

_DAMAGE = (KeyError, TypeError, ValueError, OverflowError, NotFound)


def job_values(job: Job) -> Values:
    """The row of a job.

    Raises:
        InvalidArgument: a text that lists can be filtered by can't be kept.
    """
    check_texts(job)
    return {
        "uid": job.uid,
        "name": str(job.name),
        "job_id": job.name.job_id,
        "display_name": job.display_name,
        "labels": job_documents.write_labels(job.labels),
        "spec": job_documents.write_spec(job.spec),
        "request": job.request,
        "tuning_job": job.tuning_job,
        **listed_values(job),
        **_course_values(job),
    }


def listed_values(job: Job) -> Values:
    """Where in its list the job stands, and by what parts of names it is found there."""
    return {
        "collection": _collection(job),
        "create_time": to_micros(job.create_time),
        "job_id_folded": job.name.job_id.casefold(),
        "display_name_folded": job.display_name.casefold(),
    }


def changed_values(before: Job, job: Job) -> Values:
    """What of the row of ``before`` is another in that of ``job``, and perhaps more.

    Raises InvalidArgument as ``job_values`` does.
    """
    same = replace(before, **{name: getattr(job, name) for name in _COURSE}) == job
    return _course_values(job) if same else job_values(job)


_COURSE = (
    *("state", "update_time", "start_time", "end_time"),
    *("attempt", "version", "replicas", "ending", "images"),
)
"""What changes in the course of a job; the rest was asked for."""


def _course_values(job: Job) -> Values:
    return {
        "state": job.state.value,
        "update_time": to_micros(job.update_time),
        "start_time": to_micros_or_none(job.start_time),
        "end_time": to_micros_or_none(job.end_time),
        "attempt": job.attempt,
        "version": job.version,
        "replicas": job_documents.write_replicas(job.replicas, job.images),
        "ending": job_documents.write_ending(job.ending),
    }


def job_of(row: Record) -> Job:
    """The job of a row.

    Raises:
        DataLoss: the row is damaged, or of a version that this program doesn't know.
    """
    try:
        return Job(
            uid=JobUid(row.uid),
            name=parse_job_name(row.name),
            display_name=row.display_name,
            spec=job_documents.read_spec(row.spec),
            request=row.request,
            create_time=from_micros(row.create_time),
            update_time=from_micros(row.update_time),
            labels=job_documents.read_labels(row.labels),
            state=State(row.state),
            start_time=from_micros_or_none(row.start_time),
            end_time=from_micros_or_none(row.end_time),
            attempt=row.attempt,
            replicas=job_documents.read_replicas(row.replicas),
            images=job_documents.read_images(row.replicas),
            ending=job_documents.read_ending(row.ending),
            tuning_job=row.tuning_job and JobUid(row.tuning_job),
            version=row.version,
        )
    except _DAMAGE as error:
        raise DataLoss(f"the stored record of job {row.uid} can't be read: {error}") from error


def label_values(job: Job) -> list[Values]:
    same = {
        "job_uid": job.uid,
        "collection": _collection(job),
        "create_time": to_micros(job.create_time),
    }
    return [
        {**same, "key": key, "value": value, "value_folded": value.casefold()}
        for key, value in dict(job.labels).items()
    ]


def _collection(job: Job) -> str:
    """The list that it is in; none has the runs of a tuning job."""
    return "" if job.tuning_job else job.name.collection


def event_values(uid: JobUid, number: int, event: JobEvent) -> Values:
    return {
        "job_uid": uid,
        "number": number,
        "time": to_micros(event.time),
        "key": event.key,
        "body": job_documents.write_event(event),
    }


def event_of(row: Record) -> StoredEvent:
    """Raises DataLoss as ``job_of`` does."""
    try:
        return StoredEvent(row.number, job_documents.read_event(row.body, row.time, row.key))
    except _DAMAGE as error:
        message = f"event {row.number} of job {row.job_uid} can't be read: {error}"
        raise DataLoss(message) from error
