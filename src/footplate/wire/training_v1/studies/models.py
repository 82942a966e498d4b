"""The request messages of ``projects.locations.studies`` of ml v1."""

from typing import Annotated, ClassVar

from pydantic import BeforeValidator

from footplate.wire.json_model import JsonModel
from footplate.wire.json_text import describe
from footplate.wire.proto_enum import ProtoEnum
from footplate.wire.scalars import Double, Duration, Flag, Int32, Int64, Reading, Text
from footplate.wire.training_v1.enums import GoalType, ParameterType
from footplate.wire.vertex_v1.enums import ScaleType


class StudyAlgorithm(ProtoEnum):
    ALGORITHM_UNSPECIFIED = 0
    GAUSSIAN_PROCESS_BANDIT = 1
    GRID_SEARCH = 2
    RANDOM_SEARCH = 3


class TrialState(ProtoEnum):
    STATE_UNSPECIFIED = 0
    REQUESTED = 1
    ACTIVE = 2
    COMPLETED = 3
    STOPPING = 4


_LARGEST_COUNT = 10**12


def _elapsed(value: object) -> object:
    """Converts ``{"seconds": 5, "nanos": 0}``, which tensorflow-cloud sends, to ``5s``."""
    if not isinstance(value, dict):
        return value
    counts = value.get("seconds", 0), value.get("nanos", 0)
    whole = all(type(each) is int and 0 <= each < _LARGEST_COUNT for each in counts)
    if not whole or value.keys() - {"seconds", "nanos"} or counts[1] >= 10**9:
        raise ValueError(f'{describe(value)} given; allowed: seconds as a string, such as "3600s"')
    return f"{counts[0]}.{counts[1]:09}s"


ElapsedTime = Annotated[Duration, BeforeValidator(_elapsed)]


class StudyMetric(JsonModel):
    metric: Text | None = None
    goal: GoalType | None = None


class DoubleValueSpec(JsonModel):
    min_value: Double | None = None
    max_value: Double | None = None


class IntegerValueSpec(JsonModel):
    min_value: Int64 | None = None
    max_value: Int64 | None = None


class CategoricalValueSpec(JsonModel):
    values: list[Text] | None = None


class DiscreteValueSpec(JsonModel):
    values: list[Double] | None = None


class IntegerValues(JsonModel):
    values: list[Int64] | None = None


class StudyParameter(JsonModel):
    """A parameter; a child has the values of its parent with which it is active."""

    parameter: Text | None = None
    type: ParameterType | None = None
    double_value_spec: DoubleValueSpec | None = None
    integer_value_spec: IntegerValueSpec | None = None
    categorical_value_spec: CategoricalValueSpec | None = None
    discrete_value_spec: DiscreteValueSpec | None = None
    scale_type: ScaleType | None = None
    child_parameter_specs: list["StudyParameter"] | None = None
    parent_discrete_values: DiscreteValueSpec | None = None
    parent_int_values: IntegerValues | None = None
    parent_categorical_values: CategoricalValueSpec | None = None


class StoppingRule(JsonModel):
    use_elapsed_time: Flag | None = None


class AutomatedStoppingConfig(JsonModel):
    decay_curve_stopping_config: StoppingRule | None = None
    median_automated_stopping_config: StoppingRule | None = None


class StudyConfig(JsonModel):
    metrics: list[StudyMetric] | None = None
    parameters: list[StudyParameter] | None = None
    algorithm: StudyAlgorithm | None = None
    automated_stopping_config: AutomatedStoppingConfig | None = None


class Study(JsonModel):
    OUTPUT_ONLY: ClassVar[frozenset[str]] = frozenset(
        {"name", "state", "create_time", "inactive_reason"}
    )
    study_config: StudyConfig | None = None


class MeasuredMetric(JsonModel):
    metric: Text | None = None
    value: Reading | None = None


class Measurement(JsonModel):
    elapsed_time: ElapsedTime | None = None
    step_count: Int64 | None = None
    metrics: list[MeasuredMetric] | None = None


class TrialParameter(JsonModel):
    parameter: Text | None = None
    float_value: Double | None = None
    int_value: Int64 | None = None
    string_value: Text | None = None


class Trial(JsonModel):
    OUTPUT_ONLY: ClassVar[frozenset[str]] = frozenset({"name", "start_time", "end_time"})
    state: TrialState | None = None
    parameters: list[TrialParameter] | None = None
    final_measurement: Measurement | None = None
    measurements: list[Measurement] | None = None
    trial_infeasible: Flag | None = None
    infeasible_reason: Text | None = None
    client_id: Text | None = None


class SuggestTrialsRequest(JsonModel):
    suggestion_count: Int32 | None = None
    client_id: Text | None = None


class AddTrialMeasurementRequest(JsonModel):
    measurement: Measurement | None = None


class CompleteTrialRequest(JsonModel):
    final_measurement: Measurement | None = None
    trial_infeasible: Flag | None = None
    infeasible_reason: Text | None = None
