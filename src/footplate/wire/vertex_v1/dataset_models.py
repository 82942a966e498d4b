"""The messages of DatasetService."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from footplate.wire.json_model import JsonModel
from footplate.wire.proto_enum import ProtoEnum
from footplate.wire.scalars import Text
from footplate.wire.vertex_v1.models import EncryptionSpec, GcsDestination
from footplate.wire.vertex_v1.split_models import FilterSplit, FractionSplit
from footplate.wire.vertex_v1.tracking_models import Labelled

_NO_QUERIES = "Footplate has no saved queries; leave this field out"
_NO_ANNOTATIONS = "Footplate doesn't search annotations: put what you need into the import files"


class GcsUris(JsonModel):
    """The ``gcsSource`` of a table: its field is ``uri``, where imports have ``uris``."""

    uri: list[Text] | None = None


class InputConfig(JsonModel):
    REFUSED: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "bigquery_source": (
                "Footplate has no BigQuery: export the table into a bucket as CSV (bq extract), "
                "and give gcsSource.uri"
            )
        }
    )
    gcs_source: GcsUris | None = None


class DatasetMetadata(JsonModel):
    """The metadata of all types of datasets; only tables have an ``inputConfig``."""

    input_config: InputConfig | None = None
    time_series_identifier_column: Text | None = None
    time_column: Text | None = None
    data_item_schema_uri: Text | None = None
    gcs_bucket: Text | None = None


class Dataset(Labelled):
    OUTPUT_ONLY: ClassVar[frozenset[str]] = frozenset(
        {
            "name",
            "create_time",
            "update_time",
            "data_item_count",
            "metadata_artifact",
            "satisfies_pzs",
            "satisfies_pzi",
        }
    )
    REFUSED: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "saved_queries": _NO_QUERIES,
            "model_reference": "Footplate has no datasets of prompts; leave this field out",
        }
    )
    metadata_schema_uri: Text | None = None
    metadata: DatasetMetadata | None = None
    encryption_spec: EncryptionSpec | None = None


class GcsSource(JsonModel):
    uris: list[Text] | None = None


class ImportDataConfig(JsonModel):
    REFUSED: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"annotation_labels": "put annotationResourceLabels into the lines of the import file"}
    )
    gcs_source: GcsSource | None = None
    data_item_labels: dict[str, Text] | None = None
    import_schema_uri: Text | None = None


class ImportData(JsonModel):
    """The body of a request to ``datasets.import``."""

    import_configs: list[ImportDataConfig] | None = None


class ExportUse(ProtoEnum):
    EXPORT_USE_UNSPECIFIED = 0
    CUSTOM_CODE_TRAINING = 6


class ExportDataConfig(JsonModel):
    REFUSED: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"annotations_filter": _NO_ANNOTATIONS, "saved_query_id": _NO_QUERIES}
    )
    gcs_destination: GcsDestination | None = None
    fraction_split: FractionSplit | None = None
    filter_split: FilterSplit | None = None
    annotation_schema_uri: Text | None = None
    export_use: ExportUse | None = None


class ExportData(JsonModel):
    """The body of a request to ``datasets.export``."""

    export_config: ExportDataConfig | None = None
