"""Converts requests for studies and trials of ml v1.

Every function raises InvalidArgument with all that is wrong, in the names of ml v1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TypeVar

from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.studies.metrics import Measurement
from footplate.domain.studies.request import StudyRequest
from footplate.domain.studies.transitions import Outcome
from footplate.domain.studies.user_trials import NewTrial
from footplate.wire.json_model import JsonModel, ParseResult, refuse
from footplate.wire.json_text import JsonObject, describe, format_object
from footplate.wire.training_v1.enums import ParameterType
from footplate.wire.training_v1.studies import models
from footplate.wire.training_v1.studies.translation import (
    field_of,
    study_spec,
    vertex_message,
    vertex_trial,
)
from footplate.wire.vertex_v1 import vizier_requests

Read = TypeVar("Read")

_STUDY_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_SPECS = MappingProxyType(
    {
        ParameterType.DOUBLE: "doubleValueSpec",
        ParameterType.INTEGER: "integerValueSpec",
        ParameterType.CATEGORICAL: "categoricalValueSpec",
        ParameterType.DISCRETE: "discreteValueSpec",
    }
)
_STATES = (models.TrialState.REQUESTED, models.TrialState.ACTIVE, models.TrialState.COMPLETED)


def read_study(body: JsonObject, study_id: str) -> StudyRequest:
    """Reads a new study; its id is also its display name in aiplatform v1."""
    understood = models.Study.understand(body)
    config = (understood.message.study_config or models.StudyConfig()).encode()
    study: JsonObject = {"displayName": study_id}
    if understood.message.study_config is not None:
        study["studySpec"] = study_spec(config)
    found = [*_check_id(study_id), *_check_study(understood.message)]
    made = _read(understood, study, vizier_requests.read_study, found)
    return replace(made, request=format_object(config), study_id=study_id)


def read_trial(body: JsonObject) -> NewTrial:
    understood = models.Trial.understand(body)
    trial = vertex_trial(understood.message.encode())
    found = [*_check_trial(understood.message)]
    return _read(understood, trial, vizier_requests.read_trial, found)


def read_suggest(body: JsonObject) -> vizier_requests.SuggestRequest:
    understood = models.SuggestTrialsRequest.understand(body)
    return _read(understood, understood.message.encode(), vizier_requests.read_suggest)


def read_measurement(body: JsonObject) -> Measurement:
    understood = models.AddTrialMeasurementRequest.understand(body)
    added = vertex_message(understood.message.encode())
    return _read(understood, added, vizier_requests.read_measurement)


def read_outcome(body: JsonObject) -> Outcome:
    understood = models.CompleteTrialRequest.understand(body)
    completion = vertex_message(understood.message.encode())
    return _read(understood, completion, vizier_requests.read_outcome)


def _read(
    understood: ParseResult[JsonModel],
    translated: JsonObject,
    read: Callable[[JsonObject], Read],
    found: Iterable[Violation] = (),
) -> Read:
    """Reads a translated request. ``found`` are the faults that only ml v1 has.

    Faults at or around a wrong value are left out: ``translated`` lacks that value.
    """
    violations = [*found]
    made: list[Read] = []
    try:
        made.append(read(translated))
    except InvalidArgument as error:
        for violation in error.violations:
            field = field_of(violation.field)
            if not understood.clouds(field):
                violations.append(Violation(field, violation.description))
    refuse(understood.with_rules(violations))
    return made[0]


def _check_id(study_id: str) -> Iterator[Violation]:
    """Yields faults of an id. Ids of digits alone are those of aiplatform v1's studies."""
    if study_id and (study_id.isdigit() or not _STUDY_ID.fullmatch(study_id)):
        allowed = "letters, digits, '_', '-' and '.', up to 128, and not digits alone"
        yield Violation("studyId", f"{describe(study_id)} given; allowed: {allowed}")


def _check_study(study: models.Study) -> Iterator[Violation]:
    config = study.study_config or models.StudyConfig()
    at = "studyConfig.parameters"
    for index, parameter in enumerate(config.parameters or ()):
        for name in ("parent_discrete_values", "parent_int_values", "parent_categorical_values"):
            if getattr(parameter, name) is not None:
                field = type(parameter).model_fields[name].alias
                said = "given for a parameter without a parent; allowed: in childParameterSpecs"
                yield Violation(f"{at}[{index}].{field}", said)
    yield from _check_types(config.parameters or (), at)
    stopping = config.automated_stopping_config or models.AutomatedStoppingConfig()
    if stopping.decay_curve_stopping_config and stopping.median_automated_stopping_config:
        yield Violation("studyConfig.automatedStoppingConfig", "both given; allowed: one rule")


def _check_types(parameters: Sequence[models.StudyParameter], at: str) -> Iterator[Violation]:
    for index, parameter in enumerate(parameters):
        field, kind = f"{at}[{index}]", parameter.type or ParameterType.PARAMETER_TYPE_UNSPECIFIED
        given = (
            parameter.double_value_spec,
            parameter.integer_value_spec,
            parameter.categorical_value_spec,
            parameter.discrete_value_spec,
        )
        specs = dict(zip(_SPECS.values(), given, strict=True))
        if kind not in _SPECS:
            yield Violation(f"{field}.type", f"required: {', '.join(t.name for t in _SPECS)}")
        elif specs[_SPECS[kind]] is None:
            yield Violation(f"{field}.{_SPECS[kind]}", f"required: the type is {kind.name}")
        yield from _check_types(
            parameter.child_parameter_specs or (), f"{field}.childParameterSpecs"
        )


def _check_trial(trial: models.Trial) -> Iterator[Violation]:
    state = trial.state or models.TrialState.STATE_UNSPECIFIED
    if state is models.TrialState.STOPPING:
        allowed = ", ".join(each.name for each in _STATES)
        yield Violation("state", f"{state.name} given; allowed: {allowed}")
    if trial.trial_infeasible and state is not models.TrialState.COMPLETED:
        yield Violation("trialInfeasible", "given; allowed only with the state COMPLETED")
    for index, parameter in enumerate(trial.parameters or ()):
        values = (parameter.float_value, parameter.int_value, parameter.string_value)
        if sum(value is not None for value in values) > 1:
            allowed = "one of floatValue, intValue, stringValue"
            yield Violation(f"parameters[{index}]", f"several values given; allowed: {allowed}")
