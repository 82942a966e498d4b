"""Rules for tuning jobs of built-in algorithms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.errors import Violation
from footplate.domain.formatting import nearest
from footplate.wire.json_text import describe
from footplate.wire.training_v1.enums import ParameterType
from footplate_algorithms.metric_names import reported
from footplate_algorithms.parameters import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from footplate.wire.training_v1.models import HyperparameterSpec, ParameterSpec, TrainingInput
    from footplate_algorithms.algorithms import Algorithm
    from footplate_algorithms.parameters import Parameter, Values

_AT = "trainingInput.hyperparameters"
_DECIDE_METRICS = frozenset({"objective", "model_type", "eval_metric"})


def tuned_names(training: TrainingInput) -> tuple[str, ...]:
    """The arguments that each trial gets from the search."""
    search = training.hyperparameters
    params = () if search is None else search.params or ()
    return tuple(each.parameter_name for each in params if each.parameter_name)


def check_tuned(
    search: HyperparameterSpec, algorithm: Algorithm, values: Values
) -> Iterator[Violation]:
    """``values`` are the arguments that all trials share."""
    params = search.params or ()
    if _DECIDE_METRICS.isdisjoint(each.parameter_name for each in params):
        yield from _check_tag(search, algorithm, values)
    for index, each in enumerate(params):
        if each.parameter_name:
            yield from _check_parameter(each, algorithm, f"{_AT}.params[{index}]")


def _check_tag(
    search: HyperparameterSpec, algorithm: Algorithm, values: Values
) -> Iterator[Violation]:
    tag, field = search.hyperparameter_metric_tag, f"{_AT}.hyperparameterMetricTag"
    allowed = ", ".join(reported(values))
    if not tag:
        if not search.resume_previous_job_id:
            said = f"required: what {algorithm.name} reports with these arguments, one of {allowed}"
            yield Violation(field, said)
    elif tag not in reported(values):
        said = f"{describe(tag)} given; {algorithm.name} reports with these arguments {allowed}"
        yield Violation(field, said)


def _check_parameter(given: ParameterSpec, algorithm: Algorithm, field: str) -> Iterator[Violation]:
    name = given.parameter_name or ""
    parameter = algorithm.find(name)
    if parameter is None:
        names = [each.name for each in algorithm.parameters]
        said = f"{algorithm.name} has no argument --{name[:100]}; {nearest(name, names, 'of them')}"
        yield Violation(f"{field}.parameterName", said)
    elif parameter.kind is Kind.PATH:
        said = f"{describe(name)} given, which names data; all trials train on the same"
        yield Violation(f"{field}.parameterName", said)
    elif given.type is ParameterType.DOUBLE and parameter.kind is Kind.INTEGER:
        said = f"DOUBLE given; {name} takes whole numbers; allowed: INTEGER, DISCRETE"
        yield Violation(f"{field}.type", said)
    else:
        yield from _check_values(given, parameter, field)


def _check_values(given: ParameterSpec, parameter: Parameter, field: str) -> Iterator[Violation]:
    """Each bound and each value has to be one that the argument takes."""
    for at, text in _texts(given):
        try:
            parameter.read(text)
        except ValueError as error:
            yield Violation(f"{field}.{at}", f"--{parameter.name}: {error}")


def _texts(given: ParameterSpec) -> Iterator[tuple[str, str]]:
    if given.type in (ParameterType.DOUBLE, ParameterType.INTEGER):
        yield "minValue", f"{given.min_value or 0.0:g}"
        yield "maxValue", f"{given.max_value or 0.0:g}"
    elif given.type is ParameterType.DISCRETE:
        for value in given.discrete_values or ():
            yield "discreteValues", f"{value:g}"
    elif given.type is ParameterType.CATEGORICAL:
        for text in given.categorical_values or ():
            yield "categoricalValues", text
