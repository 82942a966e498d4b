"""Warnings about searches that may not be meant so."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from footplate.wire.parallel_trials import parallel_warnings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from footplate.wire.vertex_v1.models import HyperparameterTuningJob
    from footplate.wire.vertex_v1.study_models import ParameterSpec

MAX_WARNINGS = 20
"""Of all parameters together."""


def study_warnings(job: HyperparameterTuningJob) -> Iterator[str]:
    trials, parallel = job.max_trial_count or 0, job.parallel_trial_count or 0
    yield from parallel_warnings("parallelTrialCount", parallel, "maxTrialCount", trials)
    parameters = (job.study_spec and job.study_spec.parameters) or ()
    told = (
        warning
        for index, parameter in enumerate(parameters)
        for warning in _parameter_warnings(parameter, f"studySpec.parameters[{index}]")
    )
    yield from islice(told, MAX_WARNINGS)


def _parameter_warnings(parameter: ParameterSpec, at: str) -> Iterator[str]:
    categories = parameter.categorical_value_spec
    values = (categories and categories.values) or []
    if len(set(values)) < len(values):
        yield f"{at}.categoricalValueSpec has a value twice: it counts once"
    bounds = parameter.double_value_spec or parameter.integer_value_spec
    given = bounds is not None and (bounds.min_value, bounds.max_value) != (None, None)
    if bounds and given and (bounds.min_value or 0) == (bounds.max_value or 0):
        yield f"{at}: its bounds are equal, so it is the same in all trials"
    for index, child in enumerate(parameter.conditional_parameter_specs or ()):
        if child.parameter_spec is not None:
            field = f"{at}.conditionalParameterSpecs[{index}].parameterSpec"
            yield from _parameter_warnings(child.parameter_spec, field)
