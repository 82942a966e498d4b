"""The enums of aiplatform v1 that only Vizier has. Source: google/cloud/aiplatform/v1/study."""

from __future__ import annotations

from footplate.wire.proto_enum import ProtoEnum


class StudyState(ProtoEnum):
    STATE_UNSPECIFIED = 0
    ACTIVE = 1
    INACTIVE = 2
    COMPLETED = 3


class TrialState(ProtoEnum):
    STATE_UNSPECIFIED = 0
    REQUESTED = 1
    ACTIVE = 2
    STOPPING = 3
    SUCCEEDED = 4
    INFEASIBLE = 5
