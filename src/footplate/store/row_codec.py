"""Converts jobs and events to rows and back."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from footplate.domain.errors import DataLoss, NotFound
from footplate.domain.job_states import State
from footplate.domain.jobs import Ending, Job, JobEvent, JobSpec
from footplate.domain.machine_hours import machines_of
from footplate.domain.names import JobUid, parse_job_name
from footplate.domain.timestamps import (
    from_micros,
    from_micros_or_none,
    to_micros,
    to_micros_or_none,
)
from footplate.ports.store import StoredEvent
from footplate.store import documents
from footplate.store.documents import Labels, Replicas
from footplate.store.input_checks import check_texts
from footplate.store.running_times import machines_text

if TYPE_CHECKING:
    from sqlalchemy import Row

    Record = Row[*tuple[Any, ...]]
    """A row as it was selected; Any, as in SQLAlchemy."""

_EVENT = ("kind", "message", "attempt", "replica")
Values = dict[str, Any]
"""A row to be written, column by column."""

_RECENT = 32
"""The number of documents of replicas that are kept decoded: each replica of a gang has the server
read the job, and the document grows with the gang.
"""
_DAMAGE = (KeyError, TypeError, ValueError, OverflowError, NotFound)


def job_values(job: Job) -> Values:
    """Returns the row of a job.

    Raises:
        InvalidArgument: a text by which lists can be filtered can't be stored.
    """
    check_texts(job)
    return {
        "uid": job.uid,
        "name": str(job.name),
        "job_id": job.name.job_id,
        "display_name": job.display_name,
        "labels": labels_document(job),
        "region": job.region,
        "author": job.author or None,
        "project": job.name.project,
        "machines": machines_text(machines_of(job.spec) if job.spec.runs_itself else ()),
        "spec": documents.write(job.spec),
        "request": job.request,
        "tuning_job": job.tuning_job,
        **listed_values(job),
        "state": job.state.value,
        "update_time": to_micros(job.update_time),
        "start_time": to_micros_or_none(job.start_time),
        "end_time": to_micros_or_none(job.end_time),
        "attempt": job.attempt,
        "version": job.version,
        "replicas": documents.write(Replicas(job.replicas, job.images)),
        "ending": None if job.ending is None else documents.write(job.ending),
    }


def listed_values(job: Job) -> Values:
    """Returns the columns for the job's place in its list, and for searches of parts of names."""
    return {
        "collection": _collection(job),
        "create_time": to_micros(job.create_time),
        "job_id_folded": job.name.job_id.casefold(),
        "display_name_folded": job.display_name.casefold(),
    }


def job_of(row: Record) -> Job:
    """Makes a job from a row.

    Raises:
        DataLoss: the row is damaged, or of an unknown version.
    """
    try:
        replicas = _read_replicas(row.replicas)
        labels = documents.read(Labels, row.labels)
        return Job(
            uid=JobUid(row.uid),
            name=parse_job_name(row.name),
            display_name=row.display_name,
            spec=documents.read(JobSpec, row.spec),
            request=row.request,
            create_time=from_micros(row.create_time),
            update_time=from_micros(row.update_time),
            labels=labels.labels,
            note=labels.note,
            author=row.author or "",
            state=State(row.state),
            start_time=from_micros_or_none(row.start_time),
            end_time=from_micros_or_none(row.end_time),
            attempt=row.attempt,
            replicas=replicas.replicas,
            images=replicas.images,
            ending=None if row.ending is None else documents.read(Ending, row.ending),
            tuning_job=row.tuning_job and JobUid(row.tuning_job),
            version=row.version,
        )
    except _DAMAGE as error:
        raise DataLoss(f"the stored record of job {row.uid} can't be read: {error}") from error


@lru_cache(_RECENT)
def _read_replicas(text: str) -> Replicas:
    return documents.read(Replicas, text)


def labels_document(job: Job) -> str:
    return documents.write(Labels(job.labels, job.note))


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
    """Returns the collection that lists the job; empty: none lists the runs of a tuning job."""
    return "" if job.tuning_job else job.name.collection


def event_values(uid: JobUid, number: int, event: JobEvent) -> Values:
    return {
        "job_uid": uid,
        "number": number,
        "time": to_micros(event.time),
        "key": event.key,
        "body": _event_document(event),
    }


def _event_document(event: JobEvent) -> str:
    """Encodes all fields of an event that have no column of their own."""
    return documents.write_object({name: getattr(event, name) for name in _EVENT})


def _event(row: Record) -> JobEvent:
    body = documents.load(row.body)
    given = {name: body[name] for name in _EVENT}
    return JobEvent(time=from_micros(row.time), key=row.key, **given)


def event_of(row: Record) -> StoredEvent:
    """Makes an event from a row. Raises DataLoss, as ``job_of`` does."""
    try:
        return StoredEvent(row.number, _event(row))
    except _DAMAGE as error:
        message = f"event {row.number} of job {row.job_uid} can't be read: {error}"
        raise DataLoss(message) from error
