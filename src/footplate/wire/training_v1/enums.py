"""The enums of ml v1.

Its discovery document has only the names; the numbers are those of the service's old protos.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import PlainValidator

from footplate.wire.json_text import describe
from footplate.wire.proto_enum import ProtoEnum


class ScaleTier(ProtoEnum):
    BASIC = 0
    STANDARD_1 = 1
    PREMIUM_1 = 3
    BASIC_GPU = 6
    BASIC_TPU = 7
    CUSTOM = 5


class AcceleratorType(ProtoEnum):
    ACCELERATOR_TYPE_UNSPECIFIED = 0
    NVIDIA_TESLA_K80 = 1
    NVIDIA_TESLA_P100 = 2
    NVIDIA_TESLA_V100 = 3
    NVIDIA_TESLA_P4 = 4
    NVIDIA_TESLA_T4 = 5
    TPU_V2 = 6
    TPU_V3 = 7
    NVIDIA_TESLA_A100 = 8
    TPU_V2_POD = 9
    TPU_V3_POD = 10
    TPU_V4_POD = 11


def _accelerator_name(value: object) -> str:
    if isinstance(value, str):
        return value
    try:
        return AcceleratorType.parse(value).name
    except ValueError:
        raise ValueError(f"{describe(value)} given; allowed: the name of an accelerator") from None


AcceleratorName = Annotated[str, PlainValidator(_accelerator_name)]
"""One of `AcceleratorType`, or of the accelerators that an operator has added: the rules tell."""


class GoalType(ProtoEnum):
    GOAL_TYPE_UNSPECIFIED = 0
    MAXIMIZE = 1
    MINIMIZE = 2


class Algorithm(ProtoEnum):
    ALGORITHM_UNSPECIFIED = 0
    GRID_SEARCH = 1
    RANDOM_SEARCH = 2


class ParameterType(ProtoEnum):
    PARAMETER_TYPE_UNSPECIFIED = 0
    DOUBLE = 1
    INTEGER = 2
    CATEGORICAL = 3
    DISCRETE = 4


class ScaleType(ProtoEnum):
    NONE = 0
    UNIT_LINEAR_SCALE = 1
    UNIT_LOG_SCALE = 2
    UNIT_REVERSE_LOG_SCALE = 3
