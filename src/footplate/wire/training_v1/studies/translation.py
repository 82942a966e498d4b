"""Translates studies and trials between the JSON of ml v1 and that of aiplatform v1.

Both APIs mean the same by the same words, with a few names apart. So a request of ml v1 is checked
and read as one of aiplatform v1, and its faults are reported with the names of ml v1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from footplate.wire.json_text import JsonObject, objects

if TYPE_CHECKING:
    from pydantic import JsonValue

_TO_VERTEX = MappingProxyType(
    {
        "metric": "metricId",
        "parameter": "parameterId",
        "elapsedTime": "elapsedDuration",
        "useElapsedTime": "useElapsedDuration",
        "decayCurveStoppingConfig": "decayCurveStoppingSpec",
        "medianAutomatedStoppingConfig": "medianAutomatedStoppingSpec",
    }
)
_FROM_VERTEX = MappingProxyType({theirs: ours for ours, theirs in _TO_VERTEX.items()})
_PATHS = (
    (
        re.compile(r"\bconditionalParameterSpecs(\[\d+\])(\.parameterSpec)?"),
        r"childParameterSpecs\1",
    ),
    (
        re.compile(r"\b(decayCurve|medianAutomated)StoppingSpec"),
        r"automatedStoppingConfig.\1StoppingConfig",
    ),
    (re.compile(r"^displayName$"), "studyId"),
    (re.compile(r"^studySpec\b"), "studyConfig"),
    (re.compile(r"^(parameters\[\d+\])\.value$"), r"\1"),
    (re.compile(r"\b(metric|parameter)Id\b"), r"\1"),
    (re.compile(r"\belapsedDuration\b"), "elapsedTime"),
)
_CONDITIONS = ("parentDiscreteValues", "parentIntValues", "parentCategoricalValues")
_VALUES = ("floatValue", "intValue", "stringValue")


def field_of(path: str) -> str:
    """Returns the path in ml v1 of a field of aiplatform v1."""
    for theirs, ours in _PATHS:
        path = theirs.sub(ours, path)
    return path


def study_spec(config: JsonObject) -> JsonObject:
    """Converts a ``studyConfig`` to a ``studySpec``; both have canonical names."""
    spec: JsonObject = {**config}
    spec["parameters"] = [*map(_parameter_spec, objects(config.get("parameters")))]
    if spec.get("algorithm") == "GAUSSIAN_PROCESS_BANDIT":
        spec["algorithm"] = "ALGORITHM_UNSPECIFIED"
    stopping = spec.pop("automatedStoppingConfig", None)
    return _rename({**spec, **(stopping if isinstance(stopping, dict) else {})}, _TO_VERTEX)


def _parameter_spec(parameter: JsonObject) -> JsonObject:
    spec = {name: value for name, value in parameter.items() if name not in ("type", *_CONDITIONS)}
    children = objects(spec.pop("childParameterSpecs", None))
    if children:
        spec["conditionalParameterSpecs"] = [*map(_conditional_spec, children)]
    return spec


def _conditional_spec(child: JsonObject) -> JsonObject:
    conditions = {name: child[name] for name in _CONDITIONS if name in child}
    return {"parameterSpec": _parameter_spec(child), **conditions}


def vertex_message(message: JsonObject) -> JsonObject:
    """Renames the fields of a message that differs in names alone."""
    return _rename(message, _TO_VERTEX)


def vertex_trial(trial: JsonObject) -> JsonObject:
    """Converts a trial that a client adds."""
    told = vertex_message({k: v for k, v in trial.items() if k != "trialInfeasible"})
    told["parameters"] = [*map(_point_value, objects(told.get("parameters")))]
    if trial.get("state") == "COMPLETED":
        told["state"] = "INFEASIBLE" if trial.get("trialInfeasible") else "SUCCEEDED"
    return told


def _point_value(parameter: JsonObject) -> JsonObject:
    values: list[JsonValue] = [
        int(str(parameter[name])) if name == "intValue" else parameter[name]
        for name in _VALUES
        if name in parameter
    ]
    named = {name: value for name, value in parameter.items() if name not in _VALUES}
    return {**named, "value": values[0]} if values else named


def trial_of(trial: JsonObject) -> JsonObject:
    """Converts a trial of aiplatform v1 to one of ml v1."""
    told = _rename({k: v for k, v in trial.items() if k != "id"}, _FROM_VERTEX)
    told["parameters"] = [*map(_typed_value, objects(told["parameters"]))]
    if told["state"] == "INFEASIBLE":
        told["trialInfeasible"] = True
    if told["state"] in ("SUCCEEDED", "INFEASIBLE"):
        told["state"] = "COMPLETED"
    return told


def _typed_value(parameter: JsonObject) -> JsonObject:
    name, value = parameter["parameter"], parameter["value"]
    if isinstance(value, str):
        return {"parameter": name, "stringValue": value}
    if isinstance(value, int):
        return {"parameter": name, "intValue": str(value)}
    return {"parameter": name, "floatValue": value}


def _rename(message: JsonObject, names: Mapping[str, str]) -> JsonObject:
    """Returns the message with other names of fields, at all depths."""
    return {names.get(name, name): _renamed(value, names) for name, value in message.items()}


def _renamed(value: JsonValue, names: Mapping[str, str]) -> JsonValue:
    if isinstance(value, list):
        return [_renamed(item, names) for item in value]
    return _rename(value, names) if isinstance(value, dict) else value
