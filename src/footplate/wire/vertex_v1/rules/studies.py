"""Rules for the study of a tuning job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.errors import Violation
from footplate.domain.hyperparameters import check_categories, check_metric_length
from footplate.wire.json_text import describe
from footplate.wire.vertex_v1.enums import Algorithm
from footplate.wire.vertex_v1.rules.parameter_names import (
    categories_in,
    check_parameter_names,
    names_in,
)
from footplate.wire.vertex_v1.rules.parameters import check_parameters
from footplate.wire.vertex_v1.rules.stopping import check_stopping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from footplate.wire.vertex_v1.study_models import MetricSpec, SafetyMetricConfig, StudySpec

MAX_PARAMETERS = 1000
"""Conditional ones included; more is no search that ends."""


def check_study(
    study: StudySpec, at: str, clouded: Callable[[str], bool], *, vizier: bool = False
) -> Iterator[Violation]:
    """Yields faults of a study; ``vizier`` applies Vizier's own rules, which allow more."""
    metrics = study.metrics or []
    yield from _check_metrics(metrics, f"{at}.metrics")
    parameters, field = study.parameters or [], f"{at}.parameters"
    count = sum(1 for _ in names_in(parameters))
    if not parameters:
        yield Violation(field, "required: at least one parameter to search")
    elif count > MAX_PARAMETERS:
        yield Violation(field, f"{count} given; allowed: at most {MAX_PARAMETERS}")
    else:
        grid = study.algorithm is Algorithm.GRID_SEARCH
        yield from check_parameters(parameters, field, clouded, grid=grid, defaults=vizier)
        if not study.algorithm:
            yield from check_categories(sum(categories_in(parameters)), field)
        yield from check_parameter_names(parameters, field)
    if study.observation_noise and not vizier:
        given = f"{study.observation_noise.name} given"
        allowed = "only in studies of Vizier, not in tuning jobs"
        yield Violation(f"{at}.observationNoise", f"{given}; allowed: {allowed}")
    yield from check_stopping(study, at, clouded)


def _check_metrics(metrics: Sequence[MetricSpec], at: str) -> Iterator[Violation]:
    """Yields faults of metrics; a missing goal means MAXIMIZE."""
    if not metrics:
        yield Violation(at, "required: at least one metric that the trials report")
    elif all(metric.safety_config for metric in metrics):
        yield Violation(
            at,
            "all metrics have a safetyConfig; required: at least one metric without, to optimise",
        )
    seen: set[str] = set()
    for index, metric in enumerate(metrics):
        field, name = f"{at}[{index}].metricId", metric.metric_id or ""
        if not name:
            yield Violation(field, "required: a name without white space")
        elif any(c.isspace() for c in name):
            yield Violation(field, f"{describe(name)} given; allowed: a name without white space")
        elif name in seen:
            yield Violation(
                field, f"{describe(name)} given twice; allowed: a different name for each metric"
            )
        yield from check_metric_length(name, field)
        seen.add(name)
        if metric.safety_config is not None:
            yield from _check_safety(metric.safety_config, f"{at}[{index}].safetyConfig")


def _check_safety(safety: SafetyMetricConfig, at: str) -> Iterator[Violation]:
    fraction = safety.desired_min_safe_trials_fraction
    if fraction is not None and not 0 <= fraction <= 1:
        field = f"{at}.desiredMinSafeTrialsFraction"
        yield Violation(field, f"{fraction:g} given; allowed: 0 to 1")
