"""Imports into datasets and exports from them, as aiplatform v1 answers them."""

from __future__ import annotations

from footplate.domain.datasets import DatasetOperation, OperationKind
from footplate.domain.names import DatasetName
from footplate.wire.json_text import JsonObject
from footplate.wire.status import status_json
from footplate.wire.timestamps import format_time

_TYPES = "type.googleapis.com/google.cloud.aiplatform"
_SETS = ("training", "validation", "test")


def operation_json(dataset: DatasetName, operation: DatasetOperation) -> JsonObject:
    """Returns an operation that is complete once the files are imported or written."""
    kind = operation.kind.value
    types, message = f"{_TYPES}.{operation.api_version}", f"{kind.capitalize()}Data"
    updated = operation.end_time or operation.create_time
    metadata: JsonObject = {
        "@type": f"{types}.{message}OperationMetadata",
        "genericMetadata": {
            "createTime": format_time(operation.create_time),
            "updateTime": format_time(updated),
        },
    }
    if operation.directory:
        metadata["gcsOutputDirectory"] = operation.directory
    answer: JsonObject = {
        "name": f"{dataset}/operations/{kind}-{operation.number}",
        "metadata": metadata,
        "done": operation.end_time is not None,
    }
    if operation.end_time is None:
        return answer
    if not operation.succeeded:
        return {**answer, "error": status_json(operation.code, operation.message)}
    response: JsonObject = {"@type": f"{types}.{message}Response"}
    if operation.kind is OperationKind.EXPORT:
        response["exportedFiles"] = [*operation.files]
        if operation.counts:
            counted = zip(_SETS, operation.counts, strict=True)
            response["dataStats"] = {f"{name}DataItemsCount": str(n) for name, n in counted}
    return {**answer, "response": response}
