"""Models, and the operations on them, as aiplatform v1 answers them."""

from __future__ import annotations

import json
from datetime import datetime

from footplate.domain.errors import Code
from footplate.domain.model_registry import Export, Model, ModelVersion
from footplate.wire.json_text import JsonObject
from footplate.wire.status import status_json
from footplate.wire.timestamps import format_time
from footplate.wire.vertex_v1.rules.model_registry import EXPORT_FORMAT

_TYPES = "type.googleapis.com/google.cloud.aiplatform"


def model_json(model: Model, version: ModelVersion, *, versioned: bool = False) -> JsonObject:
    """Returns a model; ``versioned`` adds the version to its name, if it was asked for."""
    answer: JsonObject = {
        "name": f"{model.name}@{version.number}" if versioned else str(model.name),
        "displayName": version.display_name,
    }
    for name, text in (
        ("description", version.description),
        ("versionDescription", version.version_description),
        ("artifactUri", version.artifact_uri),
        ("trainingPipeline", version.pipeline),
    ):
        if text:
            answer[name] = text
    answer |= json.loads(version.request)
    if version.labels:
        answer["labels"] = dict(version.labels)
    if version.artifact_uri.startswith("gs://"):
        contents: JsonObject = {"id": EXPORT_FORMAT, "exportableContents": ["ARTIFACT"]}
        answer["supportedExportFormats"] = [contents]
    return answer | {
        "versionId": str(version.number),
        "versionAliases": list(version.aliases),
        "createTime": format_time(model.create_time),
        "updateTime": format_time(version.update_time),
        "versionCreateTime": format_time(version.create_time),
        "versionUpdateTime": format_time(version.update_time),
        "etag": str(model.version),
    }


def upload_operation(
    name: str, at: datetime, api_version: str, model: str, number: int
) -> JsonObject:
    """Returns an operation that is complete from the beginning."""
    return {
        "name": name,
        "metadata": _metadata("UploadModelOperationMetadata", api_version, at, at),
        "done": True,
        "response": {
            "@type": f"{_TYPES}.{api_version}.UploadModelResponse",
            "model": model,
            "modelVersionId": str(number),
        },
    }


def export_operation(name: str, export: Export) -> JsonObject:
    """Returns an operation that is complete once the files are copied."""
    version, updated = export.api_version, export.end_time or export.create_time
    metadata = _metadata("ExportModelOperationMetadata", version, export.create_time, updated)
    answer: JsonObject = {
        "name": name,
        "metadata": {**metadata, "outputInfo": {"artifactOutputUri": export.destination}},
        "done": export.end_time is not None,
    }
    if export.end_time is None:
        return answer
    if export.code is not Code.OK:
        return {**answer, "error": status_json(export.code, export.message)}
    return {**answer, "response": {"@type": f"{_TYPES}.{version}.ExportModelResponse"}}


def _metadata(kind: str, api_version: str, created: datetime, updated: datetime) -> JsonObject:
    return {
        "@type": f"{_TYPES}.{api_version}.{kind}",
        "genericMetadata": {"createTime": format_time(created), "updateTime": format_time(updated)},
    }
