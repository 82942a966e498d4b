"""The rules for datasets, imports and exports.

Source: the service's API reference for Dataset, ImportDataConfig and ExportDataConfig.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from footplate.domain.datasets import (
    DATA_TYPES,
    SCHEMAS,
    TABLES,
    ImportedFiles,
    data_type_of,
    schema_uri,
)
from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.names import GcsUri
from footplate.wire.json_text import describe
from footplate.wire.vertex_v1.dataset_models import (
    Dataset,
    ExportData,
    ImportData,
)
from footplate.wire.vertex_v1.rules.data_splits import check_split

MAX_URIS = 1000
"""Of a dataset's tables, or of one import."""
MAX_LABELS = 64
_FILE = "gs://BUCKET/PATH of a file, which may have wildcards (*, **, ?)"
_FORMATS = f"{SCHEMAS}/ioformat/"


def check_dataset(dataset: Dataset, at: str = "") -> Iterator[Violation]:
    """Yields faults of a dataset's schema and metadata."""
    given = dataset.metadata_schema_uri
    if not given:
        return  # a patch, or a create: that requires it
    kind = data_type_of(given)
    if not kind:
        known = ", ".join(map(schema_uri, DATA_TYPES))
        yield Violation(f"{at}metadataSchemaUri", f"{describe(given)} given; allowed: {known}")
    config = dataset.metadata and dataset.metadata.input_config
    uris = (config and config.gcs_source and config.gcs_source.uri) or []
    field = f"{at}metadata.inputConfig.gcsSource.uri"
    if uris and kind and kind not in TABLES:
        said = f"given for a dataset of {kind} data; import files into it (datasets.import)"
        yield Violation(field, said)
    else:
        yield from _check_uris(uris, field)


def check_import(request: ImportData) -> Iterator[Violation]:
    """Yields faults of an import, apart from formats of other types of data."""
    configs = request.import_configs or []
    if not configs:
        yield Violation("importConfigs", "required: the files to import")
    count = sum(len((c.gcs_source and c.gcs_source.uris) or ()) for c in configs)
    if count > MAX_URIS:
        yield Violation("importConfigs", f"{count} files given; allowed: at most {MAX_URIS}")
        return
    for number, config in enumerate(configs):
        at = f"importConfigs[{number}]"
        uris = (config.gcs_source and config.gcs_source.uris) or []
        if not uris:
            yield Violation(f"{at}.gcsSource.uris", f"required: {_FILE}")
        yield from _check_uris(uris, f"{at}.gcsSource.uris")
        if not config.import_schema_uri:
            said = f"required: {_FORMATS}TYPE_FORMAT_io_format_1.0.0.yaml"
            yield Violation(f"{at}.importSchemaUri", said)
        if len(labels := config.data_item_labels or {}) > MAX_LABELS:
            said = f"{len(labels)} given; allowed: at most {MAX_LABELS}"
            yield Violation(f"{at}.dataItemLabels", said)


def check_formats(files: Sequence[ImportedFiles], data_type: str) -> Iterator[Violation]:
    """Yields formats that aren't for a dataset of this type."""
    begin = f"{_FORMATS}{data_type}_"
    for number, each in enumerate(files):
        if not each.schema_uri.startswith(begin):
            said = f"{describe(each.schema_uri)} given; allowed: {begin}FORMAT_io_format_1.0.0.yaml"
            yield Violation(f"importConfigs[{number}].importSchemaUri", said)


def check_export(request: ExportData) -> Iterator[Violation]:
    config = request.export_config
    prefix = config and config.gcs_destination and config.gcs_destination.output_uri_prefix
    field = "exportConfig.gcsDestination.outputUriPrefix"
    if not prefix:
        yield Violation(field, "required: gs://BUCKET/PATH of the folder to write to")
    elif not _is_in_bucket(prefix):
        yield Violation(field, f"{describe(prefix)} given; allowed: gs://BUCKET/PATH")
    if config is None:
        return
    if config.fraction_split is not None and config.filter_split is not None:
        said = "given together with fractionSplit; allowed: one of the two"
        yield Violation("exportConfig.filterSplit", said)
    for name, split in (
        ("fractionSplit", config.fraction_split),
        ("filterSplit", config.filter_split),
    ):
        if split is not None:
            yield from check_split(split, f"exportConfig.{name}")


def _check_uris(uris: Sequence[str], field: str) -> Iterator[Violation]:
    if len(uris) > MAX_URIS:
        yield Violation(field, f"{len(uris)} given; allowed: at most {MAX_URIS}")
        return
    for number, uri in enumerate(uris):
        if not _is_in_bucket(uri) or uri.endswith("/") or uri.count("/") < 3:
            yield Violation(f"{field}[{number}]", f"{describe(uri)} given; allowed: {_FILE}")


def _is_in_bucket(uri: str) -> bool:
    try:
        GcsUri.parse(uri, "")
    except InvalidArgument:
        return False
    return True
