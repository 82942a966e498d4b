"""The messages of MetadataService and TensorboardService."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from pydantic import JsonValue

from footplate.wire.json_model import JsonModel
from footplate.wire.proto_enum import ProtoEnum
from footplate.wire.scalars import Flag, Int32, Int64, Reading, Text, Timestamp
from footplate.wire.vertex_v1.models import EncryptionSpec

_ADDED_BY_THE_SERVICE = frozenset({"name", "create_time", "update_time"})


class ArtifactState(ProtoEnum):
    STATE_UNSPECIFIED = 0
    PENDING = 1
    LIVE = 2


class ExecutionState(ProtoEnum):
    STATE_UNSPECIFIED = 0
    NEW = 1
    RUNNING = 2
    COMPLETE = 3
    FAILED = 4
    CACHED = 5
    CANCELLED = 6


class EventType(ProtoEnum):
    TYPE_UNSPECIFIED = 0
    INPUT = 1
    OUTPUT = 2


class ValueType(ProtoEnum):
    VALUE_TYPE_UNSPECIFIED = 0
    SCALAR = 1
    TENSOR = 2
    BLOB_SEQUENCE = 3


class Tracked(JsonModel):
    """The fields that all resources of both services have."""

    OUTPUT_ONLY: ClassVar[frozenset[str]] = _ADDED_BY_THE_SERVICE
    description: Text | None = None


class Named(Tracked):
    etag: Text | None = None
    display_name: Text | None = None


class Labelled(Named):
    labels: dict[str, Text] | None = None


class MetadataStore(Tracked):
    OUTPUT_ONLY: ClassVar[frozenset[str]] = _ADDED_BY_THE_SERVICE | {"state"}
    REFUSED: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"dataplex_config": "Footplate has no Dataplex; query the lineage of the metadata store"}
    )
    encryption_spec: EncryptionSpec | None = None


class _Node(Labelled):
    schema_title: Text | None = None
    schema_version: Text | None = None
    metadata: dict[str, JsonValue] | None = None


class Context(_Node):
    OUTPUT_ONLY: ClassVar[frozenset[str]] = _ADDED_BY_THE_SERVICE | {"parent_contexts"}


class Artifact(_Node):
    uri: Text | None = None
    state: ArtifactState | None = None


class Execution(_Node):
    state: ExecutionState | None = None


class Tensorboard(Labelled):
    OUTPUT_ONLY: ClassVar[frozenset[str]] = _ADDED_BY_THE_SERVICE | {
        "blob_storage_path_prefix",
        "run_count",
        "satisfies_pzs",
        "satisfies_pzi",
    }
    is_default: Flag | None = None
    encryption_spec: EncryptionSpec | None = None


class TensorboardExperiment(Labelled):
    source: Text | None = None


class TensorboardRun(Labelled):
    pass


class TensorboardTimeSeries(Named):
    OUTPUT_ONLY: ClassVar[frozenset[str]] = _ADDED_BY_THE_SERVICE | {"metadata"}
    value_type: ValueType | None = None
    plugin_name: Text | None = None
    plugin_data: Text | None = None


class Event(JsonModel):
    """An event between an execution and an artifact.

    The request names the execution, so the event needn't repeat it.
    """

    OUTPUT_ONLY: ClassVar[frozenset[str]] = frozenset({"event_time"})
    artifact: Text | None = None
    execution: Text | None = None
    type: EventType | None = None
    labels: dict[str, Text] | None = None


class AddContextArtifactsAndExecutions(JsonModel):
    artifacts: list[Text] | None = None
    executions: list[Text] | None = None


class ContextChildren(JsonModel):
    child_contexts: list[Text] | None = None


class AddExecutionEvents(JsonModel):
    events: list[Event] | None = None


class Scalar(JsonModel):
    """A scalar; an absent value is 0, because proto3 omits it."""

    value: Reading | None = None


class Tensor(JsonModel):
    value: Text | None = None
    version_number: Int32 | None = None


class Blob(JsonModel):
    """A blob, whose bytes are an object of a bucket with a name that ends in ``id``."""

    OUTPUT_ONLY: ClassVar[frozenset[str]] = frozenset({"data"})
    id: Text | None = None


class BlobSequence(JsonModel):
    values: list[Blob] | None = None


class DataPoint(JsonModel):
    scalar: Scalar | None = None
    tensor: Tensor | None = None
    blobs: BlobSequence | None = None
    wall_time: Timestamp | None = None
    step: Int64 | None = None


class TimeSeriesData(JsonModel):
    tensorboard_time_series_id: Text | None = None
    value_type: ValueType | None = None
    values: list[DataPoint] | None = None


class WriteRunData(JsonModel):
    tensorboard_run: Text | None = None
    time_series_data: list[TimeSeriesData] | None = None


class WriteExperimentData(JsonModel):
    write_run_data_requests: list[WriteRunData] | None = None


class CreateRun(JsonModel):
    parent: Text | None = None
    tensorboard_run: TensorboardRun | None = None
    tensorboard_run_id: Text | None = None


class CreateTimeSeries(JsonModel):
    parent: Text | None = None
    tensorboard_time_series: TensorboardTimeSeries | None = None
    tensorboard_time_series_id: Text | None = None


class CreateRuns(JsonModel):
    requests: list[CreateRun] | None = None


class CreateManyTimeSeries(JsonModel):
    requests: list[CreateTimeSeries] | None = None


class ExportTimeSeries(JsonModel):
    filter: Text | None = None
    page_size: Int32 | None = None
    page_token: Text | None = None
    order_by: Text | None = None
