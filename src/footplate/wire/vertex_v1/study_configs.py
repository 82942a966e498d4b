"""Converts a ``StudySpec`` with its parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from types import MappingProxyType

from footplate.domain.studies.metrics import Goal, Metric, Selection
from footplate.domain.studies.parameters import (
    Branch,
    CategoricalParameter,
    DiscreteParameter,
    DoubleParameter,
    IntegerParameter,
    Parameter,
    Scale,
)
from footplate.domain.studies.space import SearchSpace
from footplate.domain.studies.stopping import ConvexSpec, DecayCurveSpec, MedianSpec, StoppingSpec
from footplate.domain.studies.study import Algorithm, Noise, StudyConfig, StudyLimits
from footplate.wire.durations import seconds
from footplate.wire.timestamps import parse_time
from footplate.wire.vertex_v1 import enums
from footplate.wire.vertex_v1.enums import (
    GoalType,
    MeasurementSelectionType,
    ObservationNoise,
    ScaleType,
)
from footplate.wire.vertex_v1.rules.conditions import Conditions
from footplate.wire.vertex_v1.study_models import (
    ConvexAutomatedStoppingSpec,
    MetricSpec,
    ParameterSpec,
    StudySpec,
    StudyStoppingConfig,
    StudyTimeConstraint,
)

_SCALES = MappingProxyType(
    {
        ScaleType.SCALE_TYPE_UNSPECIFIED: Scale.NONE,
        ScaleType.UNIT_LINEAR_SCALE: Scale.LINEAR,
        ScaleType.UNIT_LOG_SCALE: Scale.LOG,
        ScaleType.UNIT_REVERSE_LOG_SCALE: Scale.REVERSE_LOG,
    }
)


def search_space(parameters: Sequence[ParameterSpec]) -> SearchSpace:
    """Makes a space of valid parameters; raises ValueError for invalid ones."""
    return SearchSpace(tuple(_parameter(parameter) for parameter in parameters))


def _parameter(given: ParameterSpec) -> Parameter:
    """Makes a parameter; an absent bound is 0, and repeated categories count once."""
    name = given.parameter_id or ""
    scale = _SCALES[given.scale_type or ScaleType.SCALE_TYPE_UNSPECIFIED]
    if (double := given.double_value_spec) is not None:
        low, high = double.min_value or 0.0, double.max_value or 0.0
        return DoubleParameter(name, low, high, scale, double.default_value)
    branches = tuple(_branches(given))
    if (integer := given.integer_value_spec) is not None:
        bounds = integer.min_value or 0, integer.max_value or 0
        return IntegerParameter(name, *bounds, scale, integer.default_value, branches)
    if (discrete := given.discrete_value_spec) is not None:
        values = tuple(discrete.values or ())
        return DiscreteParameter(name, values, scale, discrete.default_value, branches)
    if (categories := given.categorical_value_spec) is not None:
        texts = tuple(dict.fromkeys(categories.values or ()))
        return CategoricalParameter(name, texts, categories.default_value, branches)
    raise ValueError(f"the parameter {name} has no type of values")


def _branches(given: ParameterSpec) -> Iterator[Branch]:
    conditions = Conditions(given, "", lambda _: False)
    for child in given.conditional_parameter_specs or ():
        if child.parameter_spec is not None:
            yield Branch(conditions.feasible(child), _parameter(child.parameter_spec))


_ALGORITHMS = MappingProxyType(
    {
        enums.Algorithm.ALGORITHM_UNSPECIFIED: Algorithm.BAYESIAN,
        enums.Algorithm.GRID_SEARCH: Algorithm.GRID,
        enums.Algorithm.RANDOM_SEARCH: Algorithm.RANDOM,
    }
)


def study_config(spec: StudySpec) -> StudyConfig:
    """Makes the configuration of a valid spec; raises ValueError for invalid ones.

    A metric with a ``safetyConfig`` is a constraint of Google's search, never its goal. This search
    has no such constraints, so the metric is left out.
    """
    high = spec.observation_noise is ObservationNoise.HIGH
    best = spec.measurement_selection_type is MeasurementSelectionType.BEST_MEASUREMENT
    config = spec.study_stopping_config
    return StudyConfig(
        space=search_space(spec.parameters or ()),
        metrics=tuple(_metrics(spec.metrics or ())),
        algorithm=_ALGORITHMS[spec.algorithm or enums.Algorithm.ALGORITHM_UNSPECIFIED],
        noise=Noise.HIGH if high else Noise.LOW,
        selection=Selection.BEST if best else Selection.LAST,
        stopping=_stopping(spec),
        limits=None if config is None else _limits(config),
    )


def _metrics(given: Sequence[MetricSpec]) -> Iterator[Metric]:
    """Yields the metrics to optimise; a missing goal means MAXIMIZE."""
    for metric in given:
        if metric.safety_config is None:
            smaller = metric.goal is GoalType.MINIMIZE
            yield Metric(metric.metric_id or "", Goal.MINIMIZE if smaller else Goal.MAXIMIZE)


def _stopping(spec: StudySpec) -> StoppingSpec | None:
    if (median := spec.median_automated_stopping_spec) is not None:
        return MedianSpec(use_elapsed=bool(median.use_elapsed_duration))
    if (decay := spec.decay_curve_stopping_spec) is not None:
        return DecayCurveSpec(use_elapsed=bool(decay.use_elapsed_duration))
    if (convex := spec.convex_automated_stopping_spec) is not None:
        return _convex(convex)
    return None


def _convex(given: ConvexAutomatedStoppingSpec) -> ConvexSpec:
    """Converts the spec of the convex rule; a count of 0 means that it isn't given."""
    return ConvexSpec(
        max_step=given.max_step_count or None,
        min_step=given.min_step_count or None,
        min_measurements=given.min_measurement_count or ConvexSpec.min_measurements,
        learning_rate=given.learning_rate_parameter_name or "",
        use_elapsed=bool(given.use_elapsed_duration),
        update_all_stopped=bool(given.update_all_stopped_trials),
    )


def _limits(given: StudyStoppingConfig) -> StudyLimits:
    """Converts the limits of a study; a number of 0 means that it isn't given."""
    least = given.minimum_runtime_constraint or StudyTimeConstraint()
    most = given.maximum_runtime_constraint or StudyTimeConstraint()
    return StudyLimits(
        stop_asap=bool(given.should_stop_asap),
        min_trials=given.min_num_trials or None,
        max_trials=given.max_num_trials or None,
        max_trials_no_progress=given.max_num_trials_no_progress or None,
        max_duration_no_progress_s=_duration_s(given.max_duration_no_progress),
        min_duration_s=_duration_s(least.max_duration),
        min_end=_end(least),
        max_duration_s=_duration_s(most.max_duration),
        max_end=_end(most),
    )


def _duration_s(given: str | None) -> float | None:
    return None if given is None else seconds(given)


def _end(given: StudyTimeConstraint) -> datetime | None:
    return None if given.end_time is None else parse_time(given.end_time)
