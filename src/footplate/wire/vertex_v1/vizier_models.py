"""The request messages of VizierService."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, ClassVar

from pydantic import PlainValidator

from footplate.wire.json_model import JsonModel
from footplate.wire.json_text import describe
from footplate.wire.scalars import Duration, Flag, Int32, Int64, Reading, Text
from footplate.wire.vertex_v1.study_models import StudySpec
from footplate.wire.vertex_v1.vizier_enums import TrialState

_TOO_LARGE = 1 << 1023
"""Whole numbers beyond are no doubles, as all numbers of JSON are."""


def _point_value(value: object) -> float | int | str:
    if isinstance(value, str | float):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _TOO_LARGE:
        return value
    raise ValueError(f"{describe(value)} given; allowed: a number, or a string for a category")


PointValue = Annotated[float | int | str, PlainValidator(_point_value)]


class Study(JsonModel):
    OUTPUT_ONLY: ClassVar[frozenset[str]] = frozenset(
        {"name", "state", "create_time", "inactive_reason"}
    )
    display_name: Text | None = None
    study_spec: StudySpec | None = None


class MetricReading(JsonModel):
    """A value of a metric; an absent value is 0, because proto3 omits it."""

    metric_id: Text | None = None
    value: Reading | None = None


class Measurement(JsonModel):
    elapsed_duration: Duration | None = None
    step_count: Int64 | None = None
    metrics: list[MetricReading] | None = None


class TrialParameter(JsonModel):
    parameter_id: Text | None = None
    value: PointValue | None = None


class Trial(JsonModel):
    """A trial, which clients may create, although the API calls all its fields output only."""

    OUTPUT_ONLY: ClassVar[frozenset[str]] = frozenset(
        {"name", "id", "start_time", "end_time", "custom_job", "web_access_uris"}
    )
    state: TrialState | None = None
    parameters: list[TrialParameter] | None = None
    final_measurement: Measurement | None = None
    measurements: list[Measurement] | None = None
    client_id: Text | None = None
    infeasible_reason: Text | None = None


class LookupStudyRequest(JsonModel):
    display_name: Text | None = None


class SuggestTrialsRequest(JsonModel):
    REFUSED: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "contexts": "a study has no contexts; create a study for each context, or create "
            "trials with trials.create"
        }
    )
    suggestion_count: Int32 | None = None
    client_id: Text | None = None


class AddTrialMeasurementRequest(JsonModel):
    measurement: Measurement | None = None


class CompleteTrialRequest(JsonModel):
    final_measurement: Measurement | None = None
    trial_infeasible: Flag | None = None
    infeasible_reason: Text | None = None
