"""Answers of MetadataService, TensorboardService and DatasetService."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from footplate.domain.datasets import data_type_of
from footplate.domain.tracking.names import (
    DATASETS,
    STORES,
    TENSORBOARDS,
    TrackingName,
    blob_bucket,
)
from footplate.domain.tracking.points import Extent
from footplate.domain.tracking.resources import Link, Resource
from footplate.wire.json_text import JsonObject
from footplate.wire.timestamps import format_time
from footplate.wire.vertex_v1.tracking_kinds import Kind

_TYPES = "type.googleapis.com/google.cloud.aiplatform"
SCHEMA_LABEL = "aiplatform.googleapis.com/dataset_metadata_schema"
"""Each dataset has it."""


def resource_json(
    kind: Kind,
    resource: Resource,
    parents: Sequence[TrackingName] = (),
    extent: Extent | None = None,
) -> JsonObject:
    """Returns a resource; ``parents`` are the contexts around it, ``extent`` is a series'."""
    fields: Any = {k: value for k, value in resource.fields.items() if k not in kind.internal}
    answer: JsonObject = {"name": str(resource.name), **fields}
    if kind.is_node:
        answer.setdefault("metadata", {})  # clients look into it, whether it was given or not
    if kind.collection == DATASETS:
        title = data_type_of(resource.text("metadataSchemaUri")).upper()
        answer["labels"] = {**fields.get("labels", {}), SCHEMA_LABEL: title}
    if kind.collection == TENSORBOARDS:
        answer["blobStoragePathPrefix"] = blob_bucket(resource.name)
    if parents:
        answer["parentContexts"] = [str(parent) for parent in parents]
    if extent is not None:
        last: JsonObject = {"maxStep": str(extent.step), "maxWallTime": format_time(extent.time)}
        answer["metadata"] = last
    answer["createTime"] = format_time(resource.create_time)
    answer["updateTime"] = format_time(resource.update_time)
    if kind.collection != STORES:
        answer["etag"] = resource.etag
    return answer


def event_json(link: Link) -> JsonObject:
    answer: JsonObject = {
        "artifact": str(link.target),
        "execution": str(link.source),
        "eventTime": format_time(link.time),
        "type": link.kind.value.upper(),
    }
    if link.labels:
        answer["labels"] = dict(link.labels)
    return answer


def done_json(
    name: str, kind: Kind, verb: str, at: datetime, api_version: str, response: JsonObject | None
) -> JsonObject:
    """Returns a completed operation; ``verb`` is create, update or delete.

    Clients parse it strictly: an additional field or an unknown type is an error to them.
    """
    types, time = f"{_TYPES}.{api_version}", format_time(at)
    own = kind.message if verb in kind.operations else ""
    metadata = f"{verb.capitalize()}{own}OperationMetadata"
    empty: JsonObject = {"@type": "type.googleapis.com/google.protobuf.Empty"}
    answer = None if response is None else {"@type": f"{types}.{kind.message}", **response}
    return {
        "name": name,
        "metadata": {
            "@type": f"{types}.{metadata}",
            "genericMetadata": {"createTime": time, "updateTime": time},
        },
        "done": True,
        "response": empty if answer is None else answer,
    }
