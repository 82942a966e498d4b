"""Creates an imported study in the service."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from footplate.cli.study_import.finished_study import Choices, Span, find_conditions
from footplate.domain.errors import AlreadyExists, NotFound, ServiceError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

    from footplate.cli.study_import.finished_study import (
        Condition,
        Domain,
        FinishedStudy,
        FinishedTrial,
        Measured,
        Value,
    )
    from footplate.client.service import Service
    from footplate.domain.names import StudyName
    from footplate.wire.json_text import JsonObject


def send_study(
    service: Service, project: str, region: str, display_name: str, study: FinishedStudy
) -> tuple[StudyName, JsonObject]:
    """All of it or, where a trial is refused, nothing.

    Raises:
        AlreadyExists: there is a study of that name.
        ServiceError: what the service says of a trial that it refuses.
    """
    _check_new(service, project, region, display_name)
    name, resource = service.studies.create(project, region, display_name, study_spec(study))
    try:
        for trial in study.trials:
            service.studies.add_trial(name, trial_request(trial))
    except BaseException:
        with suppress(ServiceError):
            service.studies.delete(name)
        raise
    return name, resource


def _check_new(service: Service, project: str, region: str, display_name: str) -> None:
    """Else a file that is imported twice would become one study with all trials twice."""
    try:
        name = service.studies.lookup(project, region, display_name)
    except NotFound:
        return
    raise AlreadyExists(
        f"there is a study {display_name!r}: {name}; give another --display-name, or learn from "
        f"the one that there is: `hp-tuning-jobs create --learn-from={name.study_id}`"
    )


MOST_MEASUREMENTS = 100
"""Of one trial; of longer curves some points, evenly, the first and the last included."""


def study_spec(study: FinishedStudy) -> JsonObject:
    """What the file says, or what follows from the domains of its parameters and its trials."""
    if study.spec is not None:
        return dict(study.spec)
    conditions = find_conditions(study.domains, study.trials)
    roots = [name for name in study.domains if name not in conditions]
    return {
        "metrics": [{"metricId": name, "goal": goal} for name, goal in study.goals.items()],
        "parameters": [_parameter(name, study.domains, conditions) for name in roots],
    }


def trial_request(trial: FinishedTrial) -> JsonObject:
    request: JsonObject = {
        "parameters": [
            {"parameterId": name, "value": value} for name, value in trial.parameters.items()
        ]
    }
    if trial.curve:
        request["measurements"] = [_measurement(each) for each in _evenly(trial.curve)]
    if trial.final is None:
        return {**request, "state": "INFEASIBLE", "infeasibleReason": trial.reason}
    return {**request, "state": "SUCCEEDED", "finalMeasurement": _measurement(trial.final)}


def _parameter(
    name: str, domains: Mapping[str, Domain], conditions: Mapping[str, Condition]
) -> JsonObject:
    made: JsonObject = {"parameterId": name, **_values(domains[name])}
    children: list[JsonValue] = [
        {
            "parameterSpec": _parameter(child, domains, conditions),
            **_when(condition.values),
        }
        for child, condition in conditions.items()
        if condition.parent == name
    ]
    return {**made, "conditionalParameterSpecs": children} if children else made


def _values(domain: Domain) -> JsonObject:
    if isinstance(domain, Choices):
        kind = "categoricalValueSpec" if _texts(domain.values) else "discreteValueSpec"
        return {kind: {"values": list(domain.values)}}
    return _span(domain)


def _span(span: Span) -> JsonObject:
    scale = "UNIT_LOG_SCALE" if span.log else "UNIT_LINEAR_SCALE"
    if span.integral:
        bounds: JsonObject = {"minValue": str(int(span.low)), "maxValue": str(int(span.high))}
        return {"integerValueSpec": bounds, "scaleType": scale}
    return {"doubleValueSpec": {"minValue": span.low, "maxValue": span.high}, "scaleType": scale}


def _when(values: tuple[Value, ...]) -> JsonObject:
    kind = "parentCategoricalValues" if _texts(values) else "parentDiscreteValues"
    return {kind: {"values": list(values)}}


def _texts(values: tuple[Value, ...]) -> bool:
    return any(isinstance(value, str) for value in values)


def _measurement(measured: Measured) -> JsonObject:
    return {
        "stepCount": str(measured.step),
        "metrics": [{"metricId": name, "value": v} for name, v in measured.values.items()],
    }


def _evenly(curve: tuple[Measured, ...]) -> list[Measured]:
    last = len(curve) - 1
    if last < MOST_MEASUREMENTS:
        return list(curve)
    return [curve[i * last // (MOST_MEASUREMENTS - 1)] for i in range(MOST_MEASUREMENTS)]
