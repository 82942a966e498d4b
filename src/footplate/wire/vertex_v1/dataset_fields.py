"""Reads datasets and their operations from the fields of their records, and writes them there.

A dataset's record has the fields of the API, and beside them those of ``INTERNAL``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from footplate.domain.datasets import Dataset, DatasetOperation, ImportedFiles, OperationKind
from footplate.domain.errors import Code
from footplate.domain.names import DatasetName
from footplate.domain.timestamps import from_micros, to_micros
from footplate.domain.tracking.resources import DISPLAY_NAME, Fields, Resource

IMPORTS, OPERATIONS, EXPORTING = "imports", "operations", "exporting"
INTERNAL = frozenset({IMPORTS, OPERATIONS, EXPORTING})
"""The fields that no answer has."""


def dataset_of(record: Resource) -> Dataset:
    name = DatasetName(record.name.project, record.name.location, record.name.id)
    imports = imports_of(record)
    return Dataset(
        name,
        record.text(DISPLAY_NAME),
        record.text("metadataSchemaUri"),
        _table_uris(record.fields) or tuple(uri for files in imports for uri in files.uris),
        imports,
    )


def imports_of(record: Resource) -> tuple[ImportedFiles, ...]:
    stored: Any = record.fields.get(IMPORTS, ())
    return tuple(
        ImportedFiles(each["schemaUri"], tuple(each["uris"]), tuple(each["labels"].items()))
        for each in stored
    )


def import_fields(imports: Sequence[ImportedFiles]) -> Fields:
    stored = [
        {"schemaUri": each.schema_uri, "uris": list(each.uris), "labels": dict(each.labels)}
        for each in imports
    ]
    return {IMPORTS: stored}


def operations_of(record: Resource) -> tuple[DatasetOperation, ...]:
    """Returns the imports and exports that are kept, the oldest first."""
    stored: Any = record.fields.get(OPERATIONS, ())
    return tuple(map(_operation, stored))


def operation_fields(operations: Sequence[DatasetOperation]) -> Fields:
    """Returns the fields with these operations; ``EXPORTING``: some have to be carried out."""
    return {
        OPERATIONS: [_stored(each) for each in operations],
        EXPORTING: any(each.end_time is None for each in operations),
    }


def _table_uris(fields: Fields) -> tuple[str, ...]:
    """Returns the URIs of CSV files in the metadata."""
    found: Any = fields.get("metadata")
    for key in ("inputConfig", "gcsSource", "uri"):
        found = found.get(key) if isinstance(found, Mapping) else None
    return tuple(found or ())


def _stored(operation: DatasetOperation) -> dict[str, object]:
    end = operation.end_time
    return {
        "kind": operation.kind.value,
        "apiVersion": operation.api_version,
        "createTime": to_micros(operation.create_time),
        "number": operation.number,
        "endTime": None if end is None else to_micros(end),
        "code": operation.code.value,
        "message": operation.message,
        "directory": operation.directory,
        "request": operation.request,
        "files": list(operation.files),
        "counts": list(operation.counts),
    }


def _operation(stored: Any) -> DatasetOperation:
    end = stored["endTime"]
    return DatasetOperation(
        kind=OperationKind(stored["kind"]),
        api_version=stored["apiVersion"],
        create_time=from_micros(stored["createTime"]),
        number=stored["number"],
        end_time=None if end is None else from_micros(end),
        code=Code(stored["code"]),
        message=stored["message"],
        directory=stored["directory"],
        request=stored["request"],
        files=tuple(stored["files"]),
        counts=tuple(stored["counts"]),
    )
