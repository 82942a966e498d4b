"""Rules for the study of a tuning job."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from footplate.domain.errors import Violation
from footplate.domain.hyperparameters import check_categories, check_metric_length
from footplate.wire.durations import seconds
from footplate.wire.json_text import describe
from footplate.wire.vertex_v1.enums import Algorithm
from footplate.wire.vertex_v1.rules.parameter_names import (
    categories_in,
    check_parameter_names,
    names_in,
)
from footplate.wire.vertex_v1.rules.parameters import check_parameters
from footplate.wire.vertex_v1.study_models import (
    ConvexAutomatedStoppingSpec,
    MetricSpec,
    SafetyMetricConfig,
    StudySpec,
    StudyStoppingConfig,
    StudyTimeConstraint,
)

# Rules for early stopping.


def check_stopping(
    study: StudySpec, at: str, clouded: Callable[[str], bool]
) -> Iterator[Violation]:
    specs = {
        "decayCurveStoppingSpec": study.decay_curve_stopping_spec,
        "medianAutomatedStoppingSpec": study.median_automated_stopping_spec,
        "convexAutomatedStoppingSpec": study.convex_automated_stopping_spec,
    }
    given = [name for name, spec in specs.items() if spec is not None]
    if len(given) > 1:
        yield Violation(at, f"{' and '.join(given)} given; allowed: one of {', '.join(specs)}")
    goals = sum(1 for metric in study.metrics or () if metric.safety_config is None)
    for name in given:
        if goals > 1:
            yield Violation(f"{at}.{name}", _single(goals))
    if study.convex_automated_stopping_spec is not None:
        field = f"{at}.convexAutomatedStoppingSpec"
        yield from _check_convex(study.convex_automated_stopping_spec, study, field)
    if study.study_stopping_config is not None:
        config, field = study.study_stopping_config, f"{at}.studyStoppingConfig"
        yield from _check_config(config, field, goals)
        yield from _check_constraints(config, field, clouded)


def _single(goals: int) -> str:
    return f"given with {goals} metrics to optimise; allowed: only with one"


def _check_convex(
    spec: ConvexAutomatedStoppingSpec, study: StudySpec, at: str
) -> Iterator[Violation]:
    most, least = spec.max_step_count or 0, spec.min_step_count or 0
    counts = {
        "maxStepCount": most,
        "minStepCount": least,
        "minMeasurementCount": spec.min_measurement_count or 0,
    }
    yield from _check_counts(counts, at)
    if 0 < most < least:
        said = f"{least} given; allowed: at most maxStepCount, which is {most}"
        yield Violation(f"{at}.minStepCount", said)
    name = spec.learning_rate_parameter_name
    if name and name not in (known := sorted(set(names_in(study.parameters or ())))):
        said = f"{describe(name)} given; allowed: one of the parameters {describe(known)}"
        yield Violation(f"{at}.learningRateParameterName", said)


def _check_config(config: StudyStoppingConfig, at: str, goals: int) -> Iterator[Violation]:
    least, most = config.min_num_trials or 0, config.max_num_trials or 0
    patience = config.max_num_trials_no_progress
    counts = {
        "minNumTrials": least,
        "maxNumTrials": most,
        "maxNumTrialsNoProgress": patience or 0,
    }
    yield from _check_counts(counts, at)
    if 0 < most < least:
        said = f"{least} given; allowed: at most maxNumTrials, which is {most}"
        yield Violation(f"{at}.minNumTrials", said)
    waiting = config.max_duration_no_progress
    if waiting and seconds(waiting) <= 0:
        said = f"{waiting} given; allowed: more than 0s"
        yield Violation(f"{at}.maxDurationNoProgress", said)
    if goals > 1 and patience:
        yield Violation(f"{at}.maxNumTrialsNoProgress", _single(goals))
    if goals > 1 and waiting:
        yield Violation(f"{at}.maxDurationNoProgress", _single(goals))


def _check_counts(counts: dict[str, int], at: str) -> Iterator[Violation]:
    for name, count in counts.items():
        if count < 0:
            yield Violation(f"{at}.{name}", f"{count} given; allowed: 0 or more")


def _check_constraints(
    config: StudyStoppingConfig, at: str, clouded: Callable[[str], bool]
) -> Iterator[Violation]:
    least, most = config.minimum_runtime_constraint, config.maximum_runtime_constraint
    for name, constraint in (
        ("minimumRuntimeConstraint", least),
        ("maximumRuntimeConstraint", most),
    ):
        if constraint is not None:
            yield from _check_constraint(constraint, f"{at}.{name}", clouded)
    low, high = least and least.max_duration, most and most.max_duration
    if low and high and seconds(low) > seconds(high):
        said = (
            f"{low} given; allowed: at most the maxDuration of maximumRuntimeConstraint, "
            f"which is {high}"
        )
        yield Violation(f"{at}.minimumRuntimeConstraint.maxDuration", said)


def _check_constraint(
    constraint: StudyTimeConstraint, at: str, clouded: Callable[[str], bool]
) -> Iterator[Violation]:
    duration, end = constraint.max_duration, constraint.end_time
    unknown = clouded(f"{at}.maxDuration") or clouded(f"{at}.endTime")
    if (duration is None) == (end is None) and not unknown:
        said = "neither" if duration is None else "both"
        yield Violation(at, f"{said} given; allowed: one of maxDuration, endTime")
    if duration and seconds(duration) <= 0:
        yield Violation(f"{at}.maxDuration", f"{duration} given; allowed: more than 0s")


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
