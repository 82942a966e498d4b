"""The request messages of aiplatform v1 studies."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from footplate.wire.json_model import JsonModel
from footplate.wire.scalars import Double, Duration, Flag, Int32, Int64, Text, Timestamp
from footplate.wire.vertex_v1.enums import (
    Algorithm,
    GoalType,
    MeasurementSelectionType,
    ObservationNoise,
    ScaleType,
)


class SafetyMetricConfig(JsonModel):
    safety_threshold: Double | None = None
    desired_min_safe_trials_fraction: Double | None = None


class MetricSpec(JsonModel):
    metric_id: Text | None = None
    goal: GoalType | None = None
    safety_config: SafetyMetricConfig | None = None


class DoubleValueSpec(JsonModel):
    min_value: Double | None = None
    max_value: Double | None = None
    default_value: Double | None = None


class IntegerValueSpec(JsonModel):
    min_value: Int64 | None = None
    max_value: Int64 | None = None
    default_value: Int64 | None = None


class CategoricalValueSpec(JsonModel):
    values: list[Text] | None = None
    default_value: Text | None = None


class DiscreteValueSpec(JsonModel):
    values: list[Double] | None = None
    default_value: Double | None = None


ValueSpec = DoubleValueSpec | IntegerValueSpec | CategoricalValueSpec | DiscreteValueSpec


class DiscreteValueCondition(JsonModel):
    values: list[Double] | None = None


class IntValueCondition(JsonModel):
    values: list[Int64] | None = None


class CategoricalValueCondition(JsonModel):
    values: list[Text] | None = None


class ConditionalParameterSpec(JsonModel):
    parameter_spec: "ParameterSpec | None" = None
    parent_discrete_values: DiscreteValueCondition | None = None
    parent_int_values: IntValueCondition | None = None
    parent_categorical_values: CategoricalValueCondition | None = None


class ParameterSpec(JsonModel):
    """The spec of a parameter; absent numbers are 0, because proto3 omits them."""

    parameter_id: Text | None = None
    double_value_spec: DoubleValueSpec | None = None
    integer_value_spec: IntegerValueSpec | None = None
    categorical_value_spec: CategoricalValueSpec | None = None
    discrete_value_spec: DiscreteValueSpec | None = None
    scale_type: ScaleType | None = None
    conditional_parameter_specs: list[ConditionalParameterSpec] | None = None


ConditionalParameterSpec.model_rebuild()  # the two name each other


class DecayCurveAutomatedStoppingSpec(JsonModel):
    use_elapsed_duration: Flag | None = None


class MedianAutomatedStoppingSpec(JsonModel):
    use_elapsed_duration: Flag | None = None


class ConvexAutomatedStoppingSpec(JsonModel):
    max_step_count: Int64 | None = None
    min_step_count: Int64 | None = None
    min_measurement_count: Int64 | None = None
    learning_rate_parameter_name: Text | None = None
    use_elapsed_duration: Flag | None = None
    update_all_stopped_trials: Flag | None = None


class StudyTimeConstraint(JsonModel):
    max_duration: Duration | None = None
    end_time: Timestamp | None = None


class StudyStoppingConfig(JsonModel):
    should_stop_asap: Flag | None = None
    minimum_runtime_constraint: StudyTimeConstraint | None = None
    maximum_runtime_constraint: StudyTimeConstraint | None = None
    min_num_trials: Int32 | None = None
    max_num_trials: Int32 | None = None
    max_num_trials_no_progress: Int32 | None = None
    max_duration_no_progress: Duration | None = None


class StudySpec(JsonModel):
    REFUSED: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "convex_stop_config": "give convexAutomatedStoppingSpec instead",
            "transfer_learning_config": "name the earlier studies in the query parameter "
            "learnFrom (for a study), or in the label "
            "footplate-learn-from (for a job)",
        }
    )
    metrics: list[MetricSpec] | None = None
    parameters: list[ParameterSpec] | None = None
    algorithm: Algorithm | None = None
    decay_curve_stopping_spec: DecayCurveAutomatedStoppingSpec | None = None
    median_automated_stopping_spec: MedianAutomatedStoppingSpec | None = None
    convex_automated_stopping_spec: ConvexAutomatedStoppingSpec | None = None
    observation_noise: ObservationNoise | None = None
    measurement_selection_type: MeasurementSelectionType | None = None
    study_stopping_config: StudyStoppingConfig | None = None
