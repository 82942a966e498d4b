"""Converts studies, trials and reports to rows and back."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING

from footplate.domain.errors import DataLoss, NotFound
from footplate.domain.names import StudyUid, parse_study_name
from footplate.domain.studies.records import (
    Report,
    StoredReport,
    StudyRecord,
    StudyState,
    TrialRecord,
)
from footplate.domain.studies.study import Study, StudyConfig
from footplate.domain.timestamps import from_micros, to_micros
from footplate.store.documents import EarlierStudies, StudyBody, load, read, write, write_object
from footplate.store.input_checks import check_point, check_study_texts

if TYPE_CHECKING:
    from footplate.store.row_codec import Record, Values

_DAMAGE = (KeyError, TypeError, ValueError, AttributeError, OverflowError, NotFound)


def study_values(study: StudyRecord) -> Values:
    """Returns the row of a study, without ``last_position``.

    Raises:
        InvalidArgument: a text can't be stored.
    """
    check_study_texts(study)
    name = study.name
    return {
        "uid": study.uid,
        "name": None if name is None else str(name),
        "collection": None if name is None else name.collection,
        "display_name": study.display_name,
        "display_digest": None if name is None else digest(study.display_name),
        "state": study.state.value,
        "create_time": to_micros(study.create_time),
        "version": study.version,
        "config": write(study.config),
        "body": write(StudyBody(study.seed, study.made, study.ended, study.why_inactive)),
        "request": study.request,
    }


def study_of(row: Record) -> StudyRecord:
    """Makes a study from a row, which also has the document of ``earlier``.

    Raises:
        DataLoss: the row is damaged, or of an unknown version.
    """
    try:
        body = read(StudyBody, row.body)
        return StudyRecord(
            uid=StudyUid(row.uid),
            name=None if row.name is None else parse_study_name(row.name),
            display_name=row.display_name,
            config=_read_config(row.config),
            request=row.request,
            create_time=from_micros(row.create_time),
            earlier=() if row.earlier is None else read_earlier(row.earlier),
            state=StudyState(row.state),
            version=row.version,
            **vars(body),
        )
    except _DAMAGE as error:
        raise DataLoss(f"the stored record of study {row.uid} can't be read: {error}") from error


def trial_values(uid: StudyUid, trial: TrialRecord) -> Values:
    """Returns the row of a trial. Raises InvalidArgument: its point can't be stored."""
    check_point(trial.point)
    return {"study_uid": uid, "number": trial.number, "reports": 0, "body": write(trial)}


def trial_of(row: Record) -> TrialRecord:
    """Makes a trial from a row. Raises DataLoss, as ``study_of`` does."""
    try:
        return read_trial(row.body)
    except _DAMAGE as error:
        message = f"trial {row.number} of study {row.study_uid} can't be read: {error}"
        raise DataLoss(message) from error


def model_values(uid: StudyUid, finished: int, model: Mapping[str, object]) -> Values:
    body = write_object({"model": model})
    return {"study_uid": uid, "finished": finished, "body": body}


def model_of(uid: StudyUid, finished: int, text: str) -> Mapping[str, object]:
    """Reads a model's record. Raises DataLoss, as ``study_of`` does."""
    try:
        model: dict[str, object] = load(text)["model"]
    except _DAMAGE as error:
        message = f"the model of study {uid} for {finished} trials can't be read: {error}"
        raise DataLoss(message) from error
    return model


def report_values(uid: StudyUid, number: int, position: int, report: Report) -> Values:
    return {
        "study_uid": uid,
        "number": number,
        "position": position,
        "key_digest": digest(report.key),
        "body": write(report),
    }


def report_of(row: Record) -> StoredReport:
    """Makes a report from a row. Raises DataLoss, as ``study_of`` does."""
    try:
        return StoredReport(row.position, row.number, read(Report, row.body))
    except _DAMAGE as error:
        message = f"report {row.position} of study {row.study_uid} can't be read: {error}"
        raise DataLoss(message) from error


def digest(text: str) -> str:
    """Returns a digest, which represents a text of any length and characters in a unique index."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


@lru_cache(maxsize=64)
def _read_config(text: str) -> StudyConfig:
    """Decodes and caches a config: it seldom changes, and its space keeps computed values."""
    return read(StudyConfig, text)


def earlier_document(study: StudyRecord) -> str:
    """Encodes a study's earlier studies. Raises InvalidArgument: a point can't be stored."""
    for earlier in study.earlier:
        _check_points(earlier)
    return write(EarlierStudies(study.earlier))


def _check_points(study: Study) -> None:
    for trial in study.trials:
        check_point(trial.point)
    for earlier in study.earlier:
        _check_points(earlier)


@lru_cache(maxsize=8)
def read_earlier(text: str) -> tuple[Study, ...]:
    """Decodes and caches earlier studies, which never change, are large, and often read."""
    return read(EarlierStudies, text).studies


@lru_cache(maxsize=10_000)
def read_trial(text: str) -> TrialRecord:
    """Decodes and caches a trial: a study's trials are read together, and seldom change.

    Raises what ``documents.read`` raises.
    """
    return read(TrialRecord, text)
