"""Converts studies, trials and reports to rows and back."""

from __future__ import annotations

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
from footplate.store.input_checks import check_study_texts
from footplate.store.json_column import read, write
from footplate.store.studies.configs import config_document, config_of
from footplate.store.studies.measurements import values_document, values_of
from footplate.store.studies.numbers import read_number, write_number
from footplate.store.studies.prior_studies import read_earlier
from footplate.store.studies.trials import read_trial, write_trial
from footplate.store.timestamps import from_micros, to_micros

if TYPE_CHECKING:
    from collections.abc import Mapping

    from footplate.domain.studies.study import StudyConfig
    from footplate.store.json_column import Json
    from footplate.store.row_codec import Record, Values

_DAMAGE = (KeyError, TypeError, ValueError, AttributeError, OverflowError, NotFound)


def study_values(study: StudyRecord) -> Values:
    """The row of a study, but for ``last_position``.

    Raises:
        InvalidArgument: a text can't be kept.
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
        "config": write(config_document(study.config)),
        "body": write(
            {
                "seed": study.seed,
                "made": study.made,
                "ended": study.ended,
                "why_inactive": study.why_inactive,
            }
        ),
        "request": study.request,
    }


def study_of(row: Record) -> StudyRecord:
    """The study of a row, which holds the document of ``earlier`` as well.

    Raises:
        DataLoss: the row is damaged, or of a version that this program doesn't know.
    """
    try:
        body = read(row.body)
        return StudyRecord(
            uid=StudyUid(row.uid),
            name=None if row.name is None else parse_study_name(row.name),
            display_name=row.display_name,
            config=_read_config(row.config),
            request=row.request,
            seed=body["seed"],
            create_time=from_micros(row.create_time),
            earlier=() if row.earlier is None else read_earlier(row.earlier),
            made=body["made"],
            ended=body["ended"],
            state=StudyState(row.state),
            why_inactive=body["why_inactive"],
            version=row.version,
        )
    except _DAMAGE as error:
        raise DataLoss(f"the stored record of study {row.uid} can't be read: {error}") from error


def trial_values(uid: StudyUid, trial: TrialRecord) -> Values:
    """Raises InvalidArgument: its point can't be kept."""
    return {"study_uid": uid, "number": trial.number, "reports": 0, "body": write_trial(trial)}


def trial_of(row: Record) -> TrialRecord:
    """Raises DataLoss as ``study_of`` does."""
    try:
        return read_trial(row.number, row.body)
    except _DAMAGE as error:
        message = f"trial {row.number} of study {row.study_uid} can't be read: {error}"
        raise DataLoss(message) from error


def model_values(uid: StudyUid, finished: int, model: Mapping[str, object]) -> Values:
    body = write({"model": model})
    return {"study_uid": uid, "finished": finished, "body": body}


def model_of(uid: StudyUid, finished: int, text: str) -> Mapping[str, object]:
    """Raises DataLoss as ``study_of`` does."""
    try:
        model: dict[str, object] = read(text)["model"]
    except _DAMAGE as error:
        message = f"the model of study {uid} for {finished} trials can't be read: {error}"
        raise DataLoss(message) from error
    return model


def report_values(uid: StudyUid, number: int, position: int, report: Report) -> Values:
    body = {
        "key": report.key,
        "values": values_document(report.values),
        "step": report.step,
        "elapsed_s": write_number(report.elapsed_s),
        "time": to_micros(report.time),
        "source": report.source,
    }
    return {
        "study_uid": uid,
        "number": number,
        "position": position,
        "key_digest": digest(report.key),
        "body": write(body),
    }


def report_of(row: Record) -> StoredReport:
    """Raises DataLoss as ``study_of`` does."""
    try:
        return StoredReport(row.position, row.number, _report(read(row.body)))
    except _DAMAGE as error:
        message = f"report {row.position} of study {row.study_uid} can't be read: {error}"
        raise DataLoss(message) from error


def digest(text: str) -> str:
    """What stands for a text of any length and any characters in a unique index."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


@lru_cache(maxsize=64)
def _read_config(text: str) -> StudyConfig:
    """Remembered: it seldom changes, and what its space has worked out of itself stays with it."""
    return config_of(read(text))


def _report(document: Json) -> Report:
    return Report(
        key=document["key"],
        values=values_of(document["values"]),
        step=document["step"],
        elapsed_s=read_number(document["elapsed_s"]),
        time=from_micros(document["time"]),
        source=document["source"],
    )
