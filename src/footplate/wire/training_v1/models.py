"""The request messages of ml v1 training jobs."""

from typing import ClassVar

from pydantic import JsonValue

from footplate.wire.json_model import OWN_OUTPUT, JsonModel
from footplate.wire.scalars import Double, Duration, Flag, Int32, Int64, Text
from footplate.wire.training_v1.enums import (
    AcceleratorName,
    Algorithm,
    GoalType,
    ParameterType,
    ScaleTier,
    ScaleType,
)


class AcceleratorConfig(JsonModel):
    count: Int64 | None = None
    type: AcceleratorName | None = None


class DiskConfig(JsonModel):
    boot_disk_size_gb: Int32 | None = None
    boot_disk_type: Text | None = None


class ReplicaConfig(JsonModel):
    image_uri: Text | None = None
    accelerator_config: AcceleratorConfig | None = None
    disk_config: DiskConfig | None = None
    container_command: list[Text] | None = None
    container_args: list[Text] | None = None
    tpu_tf_version: Text | None = None


class Scheduling(JsonModel):
    max_running_time: Duration | None = None
    max_wait_time: Duration | None = None
    priority: Int32 | None = None


class EncryptionConfig(JsonModel):
    kms_key_name: Text | None = None


class ParameterSpec(JsonModel):
    parameter_name: Text | None = None
    type: ParameterType | None = None
    min_value: Double | None = None
    max_value: Double | None = None
    categorical_values: list[Text] | None = None
    discrete_values: list[Double] | None = None
    scale_type: ScaleType | None = None


class HyperparameterSpec(JsonModel):
    goal: GoalType | None = None
    params: list[ParameterSpec] | None = None
    max_trials: Int32 | None = None
    max_parallel_trials: Int32 | None = None
    max_failed_trials: Int32 | None = None
    hyperparameter_metric_tag: Text | None = None
    algorithm: Algorithm | None = None
    enable_trial_early_stopping: Flag | None = None
    resume_previous_job_id: Text | None = None


class TrainingInput(JsonModel):
    scale_tier: ScaleTier | None = None
    master_type: Text | None = None
    worker_type: Text | None = None
    parameter_server_type: Text | None = None
    evaluator_type: Text | None = None
    master_config: ReplicaConfig | None = None
    worker_config: ReplicaConfig | None = None
    parameter_server_config: ReplicaConfig | None = None
    evaluator_config: ReplicaConfig | None = None
    worker_count: Int64 | None = None
    parameter_server_count: Int64 | None = None
    evaluator_count: Int64 | None = None
    package_uris: list[Text] | None = None
    python_module: Text | None = None
    args: list[Text] | None = None
    region: Text | None = None
    job_dir: Text | None = None
    runtime_version: Text | None = None
    python_version: Text | None = None
    hyperparameters: HyperparameterSpec | None = None
    scheduling: Scheduling | None = None
    service_account: Text | None = None
    network: Text | None = None
    encryption_config: EncryptionConfig | None = None
    use_chief_in_tf_config: Flag | None = None
    enable_web_access: Flag | None = None


class Job(JsonModel):
    OUTPUT_ONLY: ClassVar[frozenset[str]] = frozenset(
        {
            "create_time",
            "start_time",
            "end_time",
            "state",
            "error_message",
            "job_position",
            "training_output",
            "prediction_output",
            "etag",
            *OWN_OUTPUT,
        }
    )
    job_id: Text | None = None
    training_input: TrainingInput | None = None
    prediction_input: dict[str, JsonValue] | None = None
    labels: dict[str, Text] | None = None


class JobPatch(Job):
    """The body of ``projects.jobs.patch``, of which only the labels and the etag are read."""

    OUTPUT_ONLY: ClassVar[frozenset[str]] = Job.OUTPUT_ONLY - {"etag"}
    etag: Text | None = None
