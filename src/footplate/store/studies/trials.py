"""JSON documents of trials and their suggestions."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from footplate.domain.job_states import State
from footplate.domain.studies.records import PredictionRecord, SuggestionRecord, TrialRecord
from footplate.domain.studies.trials import TrialState
from footplate.store.json_column import read, write
from footplate.store.studies.measurements import (
    measurement_document,
    measurement_documents,
    measurement_of,
    measurements_of,
    point_document,
)
from footplate.store.studies.numbers import read_number, write_number
from footplate.store.timestamps import (
    from_micros,
    from_micros_or_none,
    to_micros,
    to_micros_or_none,
)

if TYPE_CHECKING:
    from footplate.store.json_column import Json
    from footplate.store.studies.measurements import Array


_LEFT_OUT: Json = {
    "client_id": "",
    "start": None,
    "end": None,
    "ended_as": 0,
    "suggestion": None,
    "measurements": [],
    "final": None,
    "outcome": None,
    "infeasible": "",
    "stop": "",
    "machine_s": 0.0,
    "tags": (),
}
"""What a document doesn't say: most trials have most of these."""


def write_trial(trial: TrialRecord) -> str:
    """All of it but its number.

    Raises:
        InvalidArgument: its point can't be kept.
    """
    document = {
        "client_id": trial.client_id,
        "start": to_micros_or_none(trial.start_time),
        "end": to_micros_or_none(trial.end_time),
        "ended_as": trial.ended_as,
        "suggestion": trial.suggestion and _suggestion_document(trial.suggestion),
        "measurements": measurement_documents(trial.measurements),
        "final": trial.final and measurement_document(trial.final),
        "outcome": trial.outcome and trial.outcome.value,
        "infeasible": trial.infeasible_reason,
        "stop": trial.stop_reason,
        "machine_s": write_number(trial.machine_s),
        "tags": trial.tags_seen,
    }
    said = {name: value for name, value in document.items() if value != _LEFT_OUT[name]}
    created = to_micros(trial.create_time)
    point = point_document(trial.point)
    return write({"point": point, "state": trial.state.value, "created": created, **said})


@lru_cache(maxsize=4096)
def read_trial(number: int, text: str) -> TrialRecord:
    """Remembered: where another server wrote to a study, most of its trials are as they were.

    Raises ValueError, KeyError or TypeError for what is no document of a trial.
    """
    document = {**_LEFT_OUT, **read(text)}
    suggestion, final, outcome = document["suggestion"], document["final"], document["outcome"]
    return TrialRecord(
        number=number,
        point=document["point"],
        create_time=from_micros(document["created"]),
        state=TrialState(document["state"]),
        start_time=from_micros_or_none(document["start"]),
        end_time=from_micros_or_none(document["end"]),
        ended_as=document["ended_as"],
        client_id=document["client_id"],
        suggestion=suggestion and _suggestion(suggestion),
        measurements=measurements_of(document["measurements"]),
        final=final and measurement_of(final),
        outcome=outcome and State(outcome),
        infeasible_reason=document["infeasible"],
        stop_reason=document["stop"],
        machine_s=read_number(document["machine_s"]),
        tags_seen=tuple(document["tags"]),
    )


def _suggestion_document(suggestion: SuggestionRecord) -> Json:
    distance = suggestion.distance
    return {
        "reason": suggestion.reason,
        "sentence": suggestion.sentence,
        "finished": suggestion.finished,
        "pending": suggestion.pending,
        "model": suggestion.model,
        "seed": suggestion.seed,
        "version": suggestion.version,
        "predictions": [_prediction_document(p) for p in suggestion.predictions],
        "distance": None if distance is None else write_number(distance),
    }


def _suggestion(document: Json) -> SuggestionRecord:
    distance = document["distance"]
    return SuggestionRecord(
        reason=document["reason"],
        sentence=document["sentence"],
        finished=document["finished"],
        pending=tuple(document["pending"]),
        model=document["model"],
        seed=document["seed"],
        version=document["version"],
        predictions=tuple(_prediction(p) for p in document["predictions"]),
        distance=None if distance is None else read_number(distance),
    )


def _prediction_document(prediction: PredictionRecord) -> Array:
    numbers = (prediction.value, prediction.low, prediction.high)
    return [prediction.metric, *map(write_number, numbers)]


def _prediction(document: Array) -> PredictionRecord:
    metric, value, low, high = document
    return PredictionRecord(metric, read_number(value), read_number(low), read_number(high))
