"""The messages of training pipelines and models of aiplatform v1."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from pydantic import JsonValue

from footplate.domain.data_splits import SplitMethod
from footplate.wire.json_model import OWN_OUTPUT, JsonModel
from footplate.wire.scalars import Flag, Int32, Text
from footplate.wire.vertex_v1.models import (
    CustomJobSpec,
    EncryptionSpec,
    EnvVar,
    GcsDestination,
)
from footplate.wire.vertex_v1.split_models import (
    FilterSplit,
    FractionSplit,
    KeyedFractionSplit,
    PredefinedSplit,
)
from footplate.wire.vertex_v1.study_models import StudySpec

_FOR_SERVING = "only the product that serves the model uses this field"


class Port(JsonModel):
    container_port: Int32 | None = None


class ModelContainerSpec(JsonModel):
    """The container for serving, which is stored for serving systems; only the image is checked."""

    WITHOUT_EFFECT: ClassVar[Mapping[str, str]] = MappingProxyType(
        dict.fromkeys(
            (
                *("deployment_timeout", "grpc_ports", "health_probe", "invoke_route_prefix"),
                *("liveness_probe", "shared_memory_size_mb", "startup_probe"),
            ),
            _FOR_SERVING,
        )
    )
    image_uri: Text | None = None
    command: list[Text] | None = None
    args: list[Text] | None = None
    env: list[EnvVar] | None = None
    ports: list[Port] | None = None
    predict_route: Text | None = None
    health_route: Text | None = None


class Model(JsonModel):
    """A model; fields that only a serving product reads are stored unread."""

    OUTPUT_ONLY: ClassVar[frozenset[str]] = frozenset(
        {
            "name",
            "version_id",
            "version_create_time",
            "version_update_time",
            "create_time",
            "update_time",
            "checkpoints",
            "metadata_artifact",
            "model_source_info",
            "original_model_info",
            "satisfies_pzi",
            "satisfies_pzs",
            "training_pipeline",
            "supported_export_formats",
            "supported_deployment_resources_types",
            "supported_input_storage_formats",
            "supported_output_storage_formats",
            "deployed_models",
            "etag",
        }
    )
    WITHOUT_EFFECT: ClassVar[Mapping[str, str]] = MappingProxyType(
        dict.fromkeys(
            (
                *("base_model_source", "data_stats", "default_checkpoint_id", "explanation_spec"),
                *("metadata_schema_uri", "pipeline_job", "predict_schemata"),
            ),
            _FOR_SERVING,
        )
    )
    display_name: Text | None = None
    description: Text | None = None
    version_description: Text | None = None
    version_aliases: list[Text] | None = None
    container_spec: ModelContainerSpec | None = None
    artifact_uri: Text | None = None
    metadata: JsonValue = None
    labels: dict[str, Text] | None = None
    encryption_spec: EncryptionSpec | None = None


class UploadModel(JsonModel):
    """The body of a request to ``models:upload``."""

    parent_model: Text | None = None
    model_id: Text | None = None
    model: Model | None = None
    service_account: Text | None = None


class ContainerDestination(JsonModel):
    output_uri: Text | None = None


class OutputConfig(JsonModel):
    export_format_id: Text | None = None
    artifact_destination: GcsDestination | None = None
    image_destination: ContainerDestination | None = None


class ExportModel(JsonModel):
    """The body of a request to ``models.export``."""

    output_config: OutputConfig | None = None


class MergeVersionAliases(JsonModel):
    version_aliases: list[Text] | None = None


class InputDataConfig(JsonModel):
    dataset_id: Text | None = None
    gcs_destination: GcsDestination | None = None
    bigquery_destination: JsonValue = None
    annotation_schema_uri: Text | None = None
    annotations_filter: Text | None = None
    saved_query_id: Text | None = None
    persist_ml_use_assignment: Flag | None = None
    fraction_split: FractionSplit | None = None
    filter_split: FilterSplit | None = None
    predefined_split: PredefinedSplit | None = None
    timestamp_split: KeyedFractionSplit | None = None
    stratified_split: KeyedFractionSplit | None = None

    def splits(self) -> Mapping[SplitMethod, FractionSplit | FilterSplit | PredefinedSplit]:
        """Returns the splits that are given; more than one is a fault."""
        all_splits = {
            SplitMethod.FRACTIONS: self.fraction_split,
            SplitMethod.FILTERS: self.filter_split,
            SplitMethod.PREDEFINED: self.predefined_split,
            SplitMethod.TIMES: self.timestamp_split,
            SplitMethod.STRATA: self.stratified_split,
        }
        return {method: split for method, split in all_splits.items() if split is not None}


class _Pipeline(JsonModel):
    OUTPUT_ONLY: ClassVar[frozenset[str]] = frozenset(
        {
            "name",
            "state",
            "create_time",
            "start_time",
            "end_time",
            "update_time",
            "error",
            "training_task_metadata",
            *OWN_OUTPUT,
        }
    )
    display_name: Text | None = None
    input_data_config: InputDataConfig | None = None
    training_task_definition: Text | None = None
    model_to_upload: Model | None = None
    model_id: Text | None = None
    parent_model: Text | None = None
    labels: dict[str, Text] | None = None
    encryption_spec: EncryptionSpec | None = None


class CustomTask(_Pipeline):
    """A training pipeline with the task ``custom_task_1.0.0.yaml``."""

    training_task_inputs: CustomJobSpec | None = None


class TuningInputs(JsonModel):
    study_spec: StudySpec | None = None
    max_trial_count: Int32 | None = None
    parallel_trial_count: Int32 | None = None
    max_failed_trial_count: Int32 | None = None
    trial_job_spec: CustomJobSpec | None = None


class TuningTask(_Pipeline):
    """A training pipeline with the task ``hyperparameter_tuning_task_1.0.0.yaml``."""

    training_task_inputs: TuningInputs | None = None
