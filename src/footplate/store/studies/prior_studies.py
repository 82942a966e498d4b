"""JSON documents of the studies that another study learns from."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from footplate.domain.studies.study import Study
from footplate.domain.studies.trials import Trial, TrialState
from footplate.store.json_column import read, write
from footplate.store.studies.configs import config_document, config_of
from footplate.store.studies.measurements import (
    measurement_document,
    measurement_documents,
    measurement_of,
    measurements_of,
    point_document,
)
from footplate.store.studies.numbers import read_number, write_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.store.json_column import Json


def write_earlier(studies: Sequence[Study]) -> str:
    return write({"studies": [_study_document(study) for study in studies]})


@lru_cache(maxsize=8)
def read_earlier(text: str) -> tuple[Study, ...]:
    """Remembered: it never changes, may hold thousands of trials, and is part of each load."""
    return tuple(_study(study) for study in read(text)["studies"])


def _study_document(study: Study) -> Json:
    return {
        "config": config_document(study.config),
        "trials": [_trial_document(trial) for trial in study.trials],
        "earlier": [_study_document(earlier) for earlier in study.earlier],
    }


def _study(document: Json) -> Study:
    return Study(
        config=config_of(document["config"]),
        trials=tuple(_trial(trial) for trial in document["trials"]),
        earlier=tuple(_study(earlier) for earlier in document["earlier"]),
    )


def _trial_document(trial: Trial) -> Json:
    return {
        "number": trial.number,
        "point": point_document(trial.point),
        "state": trial.state.value,
        "measurements": measurement_documents(trial.measurements),
        "final": trial.final and measurement_document(trial.final),
        "machine_s": write_number(trial.machine_s),
        "stopped_early": trial.stopped_early,
    }


def _trial(document: Json) -> Trial:
    final = document["final"]
    return Trial(
        number=document["number"],
        point=document["point"],
        state=TrialState(document["state"]),
        measurements=measurements_of(document["measurements"]),
        final=final and measurement_of(final),
        machine_s=read_number(document["machine_s"]),
        stopped_early=document["stopped_early"],
    )
