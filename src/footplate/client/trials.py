"""Client of the trials of tuning jobs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from footplate.client.jobs import job_path
from footplate.domain.errors import UnknownError
from footplate.domain.names import TrainingJobName, parse_job_name
from footplate.wire.trial_states import STATES, training_state

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

    from footplate.client.http_client import Connection
    from footplate.domain.names import JobName


@dataclass(frozen=True)
class MeasurementView:
    """A measurement. ``values`` by metric may not be finite; ``elapsed_s`` is since the start."""

    values: Mapping[str, float]
    step: int
    elapsed_s: float
    time: str
    source: str
    """Where the program wrote it, such as ``hypertune``; empty where that isn't known."""

    @classmethod
    def read(cls, resource: Mapping[str, JsonValue]) -> MeasurementView:
        values = _object(resource, "values")
        return cls(
            values={name: _number(values, name) for name in values},
            step=int(_number(resource, "step")),
            elapsed_s=_number(resource, "elapsedSeconds"),
            time=_text(resource, "time"),
            source=_text(resource, "source"),
        )


@dataclass(frozen=True)
class PredictionView:
    """A metric's predicted value, most likely between ``low`` and ``high``."""

    metric: str
    value: float
    low: float
    high: float

    @classmethod
    def read(cls, resource: Mapping[str, JsonValue]) -> PredictionView:
        value, low, high = (_number(resource, key) for key in ("value", "low", "high"))
        return cls(_text(resource, "metric"), value, low, high)


@dataclass(frozen=True)
class SuggestionView:
    """The reason why a point was tried: ``reason`` in a word or two, ``sentence`` in full."""

    reason: str
    sentence: str
    predictions: tuple[PredictionView, ...]

    @classmethod
    def read(cls, resource: Mapping[str, JsonValue]) -> SuggestionView:
        predictions = _objects(resource, "predictions")
        return cls(
            reason=_text(resource, "reason"),
            sentence=_text(resource, "sentence"),
            predictions=tuple(PredictionView.read(item) for item in predictions),
        )


@dataclass(frozen=True)
class TrialView:
    """A trial for display; ``resource`` is the server's JSON."""

    number: int
    state: str
    """One of STATES."""
    shown_state: str
    """The same in the words of the job's API: one of STATES or of TRAINING_STATES."""
    parameters: Mapping[str, JsonValue]
    """Without those that aren't active in it."""
    final: MeasurementView | None
    """What it is judged by; while it runs, its latest measurement."""
    start_time: str
    end_time: str
    machine_s: float
    """Seconds times machines."""
    stop_reason: str
    """Why it was stopped before its time; empty: it wasn't."""
    waits: str
    """Why its run waits, or what that is being prepared for; empty: neither."""
    infeasible_reason: str
    tags_seen: tuple[str, ...]
    """What its program reported, where its metric isn't among that."""
    suggestion: SuggestionView | None
    """None: the user's own point."""
    best: bool
    """No other is better; with several metrics: in all of them."""
    resource: Mapping[str, JsonValue]
    """With ``shown_state``."""

    @property
    def ended(self) -> bool:
        return self.state in STATES[-2:]

    @classmethod
    def read(
        cls, resource: Mapping[str, JsonValue], best: frozenset[int], *, of_training: bool
    ) -> TrialView:
        """Returns the trial; ``of_training`` means that its job is one of ml v1."""
        state = _text(resource, "state")
        shown = training_state(resource) if of_training else state
        number = int(_number(resource, "number"))
        final = _object(resource, "final") or _object(resource, "latest")
        suggestion = _object(resource, "suggestion")
        tags = resource.get("tagsSeen")
        return cls(
            number=number,
            state=state,
            shown_state=shown,
            parameters=_object(resource, "parameters"),
            final=MeasurementView.read(final) if final else None,
            start_time=_text(resource, "startTime"),
            end_time=_text(resource, "endTime"),
            machine_s=_number(resource, "machineSeconds"),
            stop_reason=_text(resource, "stopReason"),
            waits=_text(_object(resource, "run"), "pendingExplanation"),
            infeasible_reason=_text(resource, "infeasibleReason"),
            tags_seen=tuple(str(tag) for tag in tags) if isinstance(tags, list) else (),
            suggestion=SuggestionView.read(suggestion) if suggestion else None,
            best=number in best,
            resource={**resource, "state": shown},
        )


@dataclass(frozen=True)
class PriorStudyView:
    """A study that a search continues or learns from."""

    source: str
    """The id of the job or study."""
    trials: int
    """Finished ones, also of what ``source`` itself had learned from."""
    best: MeasurementView | None
    best_number: int
    """The best one's in ``source``; 0: it is of what that had learned from."""
    best_parameters: Mapping[str, JsonValue]

    @classmethod
    def read(cls, resource: Mapping[str, JsonValue]) -> PriorStudyView:
        best = _object(resource, "best")
        return cls(
            source=_text(resource, "source"),
            trials=int(_number(resource, "trials")),
            best=MeasurementView.read(_object(best, "final")) if best else None,
            best_number=int(_number(best, "number")),
            best_parameters=_object(best, "parameters"),
        )


@dataclass(frozen=True)
class TrialsView:
    """All trials of a tuning job so far, in the order of their numbers."""

    job: JobName
    state: str
    """Of the job."""
    metrics: Mapping[str, str]
    """The goal (MAXIMIZE, MINIMIZE) of each."""
    parameters: tuple[str, ...]
    """All of the search space, in its order."""
    most: int
    """How many trials there may be."""
    tie: str
    """Why the best one, and not another that is as good; empty: none is."""
    trials: tuple[TrialView, ...]
    earlier: PriorStudyView | None
    """None: the search learned from no other."""
    resource: Mapping[str, JsonValue]

    @classmethod
    def read(cls, resource: Mapping[str, JsonValue]) -> TrialsView:
        best, names = resource.get("best"), resource.get("parameters")
        numbers = {n for n in best if isinstance(n, int)} if isinstance(best, list) else set()
        trials = _objects(resource, "trials")
        metrics, earlier = _objects(resource, "metrics"), _object(resource, "earlier")
        job = parse_job_name(_text(resource, "name"))
        training = isinstance(job, TrainingJobName)
        seen = frozenset(numbers)
        return cls(
            job=job,
            state=_text(resource, "state"),
            metrics={_text(m, "name"): _text(m, "goal") for m in metrics},
            parameters=tuple(str(n) for n in names) if isinstance(names, list) else (),
            most=int(_number(_object(resource, "counts"), "trials")),
            tie=_text(resource, "tie"),
            trials=tuple(TrialView.read(each, seen, of_training=training) for each in trials),
            earlier=PriorStudyView.read(earlier) if earlier else None,
            resource=resource,
        )


class Trials:
    """The client for ``/footplate/v1/{job}/trials``.

    Its methods raise NotFound, or FailedPrecondition for a job without trials.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(self, name: JobName, condition: str = "", order_by: str = "") -> TrialsView:
        """Returns the trials that match a filter, in an order. Raises InvalidArgument if one of
        both is wrong.
        """
        given = {"filter": condition, "orderBy": order_by}
        params = {key: value for key, value in given.items() if value}
        return TrialsView.read(self._connection.call("GET", _path(name), params=params))

    def measurements(self, name: JobName, number: int) -> tuple[MeasurementView, ...]:
        """Returns a trial's reports in order of arrival. Raises NotFound for job or trial."""
        answer = self._connection.call("GET", f"{_path(name)}/{number}/measurements")
        return tuple(MeasurementView.read(item) for item in _objects(answer, "measurements"))


def _path(name: JobName) -> str:
    return f"{job_path(name, '/footplate/v1')}/trials"


def _objects(resource: Mapping[str, JsonValue], key: str) -> list[dict[str, JsonValue]]:
    value = resource.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _object(resource: Mapping[str, JsonValue], key: str) -> dict[str, JsonValue]:
    value = resource.get(key)
    return value if isinstance(value, dict) else {}


def _text(resource: Mapping[str, JsonValue], key: str) -> str:
    value = resource.get(key)
    return "" if value is None else str(value)


def _number(resource: Mapping[str, JsonValue], key: str) -> float:
    """Returns the number at ``key``, 0 if absent. Some are texts in JSON: int64, ``NaN``."""
    value = resource.get(key)
    try:
        return float(str(value)) if value is not None else 0.0
    except ValueError:
        raise UnknownError(f"the server sent {key}={value!r}, not a number") from None
