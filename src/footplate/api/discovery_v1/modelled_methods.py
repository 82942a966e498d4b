"""The requests and responses of the methods of ml v1 and Cloud Logging."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pydantic import JsonValue

from footplate.api.discovery_v1.types import ModelledMethod
from footplate.wire.iam import TestIamPermissionsRequest
from footplate.wire.json_model import JsonModel
from footplate.wire.logging_v2.entry_models import WriteEntriesRequest
from footplate.wire.logging_v2.requests import ListEntriesRequest
from footplate.wire.scalars import Double, Flag, Int32, Int64, Text, Timestamp
from footplate.wire.training_v1 import models
from footplate.wire.training_v1.studies import models as study_models
from footplate.wire.vertex_v1.vizier_enums import StudyState


class Empty(JsonModel):
    """An empty message."""


class HyperparameterOutputMetric(JsonModel):
    training_step: Int64
    objective_value: Double


class BuiltInAlgorithmOutput(JsonModel):
    framework: Text
    runtime_version: Text
    python_version: Text
    model_path: Text


class HyperparameterOutput(JsonModel):
    trial_id: Text
    hyperparameters: dict[str, Text]
    state: Text
    final_metric: HyperparameterOutputMetric
    all_metrics: list[HyperparameterOutputMetric]
    start_time: Timestamp
    end_time: Timestamp
    is_trial_stopped_early: Flag
    built_in_algorithm_output: BuiltInAlgorithmOutput
    web_access_uris: dict[str, Text]
    error_message: Text


class TrainingOutput(JsonModel):
    completed_trial_count: Int64
    trials: list[HyperparameterOutput]
    consumed_ml_units: Double
    is_hyperparameter_tuning_job: Flag
    hyperparameter_metric_tag: Text
    is_built_in_algorithm_job: Flag
    built_in_algorithm_output: BuiltInAlgorithmOutput
    web_access_uris: dict[str, Text]


class Job(models.Job):
    """A job as clients send it, with the fields that answers add."""

    create_time: Timestamp
    start_time: Timestamp
    end_time: Timestamp
    state: Text
    error_message: Text
    end_explanation: Text
    pending_explanation: Text
    container_images: dict[str, Text]
    engine_jobs: dict[str, Text]
    job_position: Int64
    training_output: TrainingOutput
    etag: Text


class ListJobsResponse(JsonModel):
    jobs: list[Job]
    next_page_token: Text


class GetConfigResponse(JsonModel):
    service_account: Text
    service_account_project: Int64
    config: dict[str, JsonValue]


class Capability(JsonModel):
    type: Text
    available_accelerators: list[Text]


class Location(JsonModel):
    name: Text
    location_id: Text
    capabilities: list[Capability]


class ListLocationsResponse(JsonModel):
    locations: list[Location]
    next_page_token: Text


class Operation(JsonModel):
    name: Text
    metadata: dict[str, JsonValue]
    done: Flag
    error: dict[str, JsonValue]
    response: dict[str, JsonValue]


class ListOperationsResponse(JsonModel):
    operations: list[Operation]
    next_page_token: Text


class Policy(JsonModel):
    version: Int32
    etag: Text
    bindings: list[dict[str, JsonValue]]


class SetIamPolicyRequest(JsonModel):
    policy: Policy
    update_mask: Text


class TestIamPermissionsResponse(JsonModel):
    permissions: list[Text]


class ListLogEntriesResponse(JsonModel):
    entries: list[dict[str, JsonValue]]
    next_page_token: Text


class Study(study_models.Study):
    name: Text
    state: StudyState
    create_time: Timestamp
    inactive_reason: Text


class ListStudiesResponse(JsonModel):
    studies: list[Study]


class Trial(study_models.Trial):
    name: Text
    start_time: Timestamp
    end_time: Timestamp


class ListTrialsResponse(JsonModel):
    trials: list[Trial]


_PAGED: Mapping[str, object] = MappingProxyType(
    {"filter": Text, "pageSize": Int32, "pageToken": Text}
)
_PROJECT, _JOB = "projects/*", "projects/*/jobs/*"
_STUDIES = f"{_PROJECT}/locations/*/studies"
_TRIALS = f"{_STUDIES}/*/trials"
TRAINING: Mapping[tuple[str, str], ModelledMethod] = MappingProxyType(
    {
        ("GET", f"{_PROJECT}:getConfig"): ModelledMethod(GetConfigResponse),
        ("GET", f"{_PROJECT}/locations"): ModelledMethod(ListLocationsResponse, query=_PAGED),
        ("GET", f"{_PROJECT}/locations/*"): ModelledMethod(Location),
        ("GET", f"{_PROJECT}/operations"): ModelledMethod(
            ListOperationsResponse, query=_PAGED, parameter="name"
        ),
        ("GET", f"{_PROJECT}/operations/*"): ModelledMethod(Operation),
        ("POST", f"{_PROJECT}/operations/*:cancel"): ModelledMethod(Empty),
        ("GET", f"{_PROJECT}/jobs"): ModelledMethod(ListJobsResponse, query=_PAGED),
        ("POST", f"{_PROJECT}/jobs"): ModelledMethod(Job, Job),
        ("GET", _JOB): ModelledMethod(Job),
        ("PATCH", _JOB): ModelledMethod(Job, Job, {"updateMask": Text}),
        ("POST", f"{_JOB}:cancel"): ModelledMethod(Empty, Empty),
        ("GET", f"{_JOB}:getIamPolicy"): ModelledMethod(
            Policy, query={"options.requestedPolicyVersion": Int32}, parameter="resource"
        ),
        ("POST", f"{_JOB}:setIamPolicy"): ModelledMethod(
            Policy, SetIamPolicyRequest, parameter="resource"
        ),
        ("POST", f"{_JOB}:testIamPermissions"): ModelledMethod(
            TestIamPermissionsResponse, TestIamPermissionsRequest, parameter="resource"
        ),
        ("GET", f"{_PROJECT}/locations/*/operations/*"): ModelledMethod(Operation),
        ("POST", f"{_PROJECT}/locations/*/operations/*:cancel"): ModelledMethod(Empty),
        ("GET", _STUDIES): ModelledMethod(ListStudiesResponse),
        ("POST", _STUDIES): ModelledMethod(Study, Study, {"studyId": Text}),
        ("GET", f"{_STUDIES}/*"): ModelledMethod(Study),
        ("DELETE", f"{_STUDIES}/*"): ModelledMethod(Empty),
        ("GET", _TRIALS): ModelledMethod(ListTrialsResponse),
        ("POST", _TRIALS): ModelledMethod(Trial, Trial),
        ("POST", f"{_TRIALS}:suggest"): ModelledMethod(
            Operation, study_models.SuggestTrialsRequest
        ),
        ("POST", f"{_TRIALS}:listOptimalTrials"): ModelledMethod(ListTrialsResponse, Empty),
        ("GET", f"{_TRIALS}/*"): ModelledMethod(Trial),
        ("DELETE", f"{_TRIALS}/*"): ModelledMethod(Empty),
        ("POST", f"{_TRIALS}/*:addMeasurement"): ModelledMethod(
            Trial, study_models.AddTrialMeasurementRequest
        ),
        ("POST", f"{_TRIALS}/*:complete"): ModelledMethod(Trial, study_models.CompleteTrialRequest),
        ("POST", f"{_TRIALS}/*:stop"): ModelledMethod(Trial, Empty),
        ("POST", f"{_TRIALS}/*:checkEarlyStoppingState"): ModelledMethod(Operation, Empty),
    }
)
"""Of ml v1."""
LOGGING: Mapping[tuple[str, str], ModelledMethod] = MappingProxyType(
    {
        ("POST", "entries:list"): ModelledMethod(ListLogEntriesResponse, ListEntriesRequest),
        ("POST", "entries:write"): ModelledMethod(Empty, WriteEntriesRequest),
    }
)
"""Of logging v2."""
