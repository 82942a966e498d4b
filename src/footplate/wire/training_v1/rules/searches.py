"""Rules for the search of a tuning job. An absent number is 0, as in proto3."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.hyperparameters import (
    check_categories,
    check_category_lengths,
    check_discrete_values,
    check_metric_length,
    check_parameter_names,
    check_range,
    check_trial_counts,
)
from footplate.domain.names import check_training_job_id
from footplate.wire.json_model import parsed_items
from footplate.wire.json_text import describe
from footplate.wire.learn_from_label import check_learning
from footplate.wire.training_v1.enums import Algorithm, ParameterType, ScaleType
from footplate.wire.training_v1.models import HyperparameterSpec, Job, ParameterSpec

MAX_PARAMETERS = 1000
"""More is no search that ends."""
_AT = "trainingInput.hyperparameters"
_LOG_SCALES = (ScaleType.UNIT_LOG_SCALE, ScaleType.UNIT_REVERSE_LOG_SCALE)
_NUMERIC = (ParameterType.DOUBLE, ParameterType.INTEGER)


def check_search(
    search: HyperparameterSpec, job: Job, clouded: Callable[[str], bool]
) -> Iterator[Violation]:
    yield from _check_counts(search, clouded)
    yield from _check_resumed(search, job)
    yield from check_learning(job.labels, job.job_id or "")
    params = search.params or ()
    if not params and not search.resume_previous_job_id:
        said = "required: the parameters to tune, unless resumePreviousJobId is given"
        yield Violation(f"{_AT}.params", said)
    if len(params) > MAX_PARAMETERS:
        yield Violation(f"{_AT}.params", f"{len(params)} given; allowed: at most {MAX_PARAMETERS}")
        return
    yield from check_metric_length(
        search.hyperparameter_metric_tag or "", f"{_AT}.hyperparameterMetricTag"
    )
    if not search.algorithm:
        count = sum(len(parameter.categorical_values or ()) for parameter in params)
        yield from check_categories(count, f"{_AT}.params")
    yield from _check_names(params, job, clouded)
    for index, parameter in enumerate(params):
        field = f"{_AT}.params[{index}]"
        yield from _check_parameter(parameter, field, clouded)
        if search.algorithm is Algorithm.GRID_SEARCH and parameter.type is ParameterType.DOUBLE:
            allowed = "INTEGER, CATEGORICAL, DISCRETE"
            said = f"type DOUBLE given; allowed with algorithm GRID_SEARCH: {allowed}"
            yield Violation(f"{field}.type", said)


def _check_counts(
    search: HyperparameterSpec, clouded: Callable[[str], bool]
) -> Iterator[Violation]:
    """Yields faults in the numbers of trials; 0 or absent means 1, one at a time."""
    fields = f"{_AT}.maxTrials", f"{_AT}.maxParallelTrials", f"{_AT}.maxFailedTrials"
    counts = search.max_trials or 1, search.max_parallel_trials or 1, search.max_failed_trials or 0
    if not clouded(fields[0]):
        yield from check_trial_counts(*counts, fields)


def _check_names(
    params: Sequence[ParameterSpec], job: Job, clouded: Callable[[str], bool]
) -> Iterator[Violation]:
    named = [
        (f"{_AT}.params[{index}].parameterName", parameter.parameter_name or "")
        for index, parameter in enumerate(params)
    ]
    yield from check_parameter_names([each for each in named if not clouded(each[0])])
    if job.training_input and job.training_input.job_dir:
        for field, name in named:
            if name == "job-dir":
                said = "allowed: another name, because jobDir reaches the program as --job-dir"
                yield Violation(field, f"{describe(name)} given; {said}")


def _check_resumed(search: HyperparameterSpec, job: Job) -> Iterator[Violation]:
    resumed, field = search.resume_previous_job_id, f"{_AT}.resumePreviousJobId"
    if not resumed:
        return
    if "/" in resumed:
        allowed = (
            "the id of a job of the same project, without the project's name; jobs of other "
            "projects can't be resumed"
        )
        yield Violation(field, f"{describe(resumed)} given; allowed: {allowed}")
        return
    try:
        check_training_job_id(resumed)
    except InvalidArgument as error:
        yield Violation(field, error.violations[0].description)
    if resumed == job.job_id:
        yield Violation(
            field,
            f"{describe(resumed)} given, the id of this job; allowed: the id of an earlier job",
        )


def _check_parameter(
    parameter: ParameterSpec, field: str, clouded: Callable[[str], bool]
) -> Iterator[Violation]:
    kind = parameter.type or ParameterType.PARAMETER_TYPE_UNSPECIFIED
    scale = parameter.scale_type or ScaleType.NONE
    log_scale = f"scaleType {scale.name}" if scale in _LOG_SCALES else ""
    if clouded(f"{field}.type"):
        return
    if kind is ParameterType.PARAMETER_TYPE_UNSPECIFIED:
        said = "required: DOUBLE, INTEGER, CATEGORICAL or DISCRETE"
        yield Violation(f"{field}.type", said)
    elif kind in _NUMERIC:
        if not (clouded(f"{field}.minValue") or clouded(f"{field}.maxValue")):
            yield from _check_bounds(parameter, kind, field, log_scale)
    elif kind is ParameterType.DISCRETE:
        at = f"{field}.discreteValues"
        values = parsed_items(parameter.discrete_values or (), at, clouded)
        yield from check_discrete_values(values, at, log_scale=log_scale)
    else:
        at = f"{field}.categoricalValues"
        categories = parsed_items(parameter.categorical_values or (), at, clouded)
        yield from check_category_lengths(categories, at)
        yield from _check_categories(parameter, field)


def _check_bounds(
    parameter: ParameterSpec, kind: ParameterType, field: str, log_scale: str
) -> Iterator[Violation]:
    """Yields faults of a range's bounds.

    Clients drop a bound of 0, so a missing bound is a fault only if it can't mean 0.
    """
    low, high = parameter.min_value or 0.0, parameter.max_value or 0.0
    required = f"required for {kind.name}; a bound that isn't given counts as 0"
    missing_low = parameter.min_value is None and (high < 0 or parameter.max_value is None)
    missing_high = parameter.max_value is None and low >= 0
    if missing_low:
        yield Violation(f"{field}.minValue", required)
    if missing_high:
        yield Violation(f"{field}.maxValue", required)
    if not (missing_low or missing_high):
        integral = kind is ParameterType.INTEGER
        at = f"{field}.minValue", f"{field}.maxValue"
        yield from check_range(low, high, *at, integral=integral, log_scale=log_scale)


def _check_categories(parameter: ParameterSpec, field: str) -> Iterator[Violation]:
    if not parameter.categorical_values:
        said = "required for CATEGORICAL: the values to choose from"
        yield Violation(f"{field}.categoricalValues", said)
    for name, bound in (("minValue", parameter.min_value), ("maxValue", parameter.max_value)):
        if bound:
            said = f"{bound:g} given; parameters of type CATEGORICAL have no bounds"
            yield Violation(f"{field}.{name}", said)
