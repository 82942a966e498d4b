"""The requests to DatasetService that other collections don't have, and the orders of its lists."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from footplate.domain.data_splits import DataSplit, Fractions, SplitMethod
from footplate.domain.datasets import TABLES, ImportedFiles, data_type_of
from footplate.domain.tracking.resources import DISPLAY_NAME, Resource
from footplate.wire.json_model import refuse
from footplate.wire.json_text import JsonObject, format_object
from footplate.wire.vertex_v1.dataset_models import (
    ExportData,
    ExportDataConfig,
    ExportUse,
    ImportData,
)
from footplate.wire.vertex_v1.rules.datasets import check_export, check_import
from footplate.wire.vertex_v1.split_models import split_of

SYSTEM_LABELS = "aiplatform.googleapis.com/"
"""What the keys of labels begin with that only the service sets."""
DATASET_ORDERS: Mapping[str, Callable[[Resource], Any]] = MappingProxyType(
    {
        "displayName": lambda record: record.text(DISPLAY_NAME).casefold(),
        "createTime": lambda record: record.create_time,
        "updateTime": lambda record: record.update_time,
    }
)


@dataclass(frozen=True)
class ExportRequest:
    """An export below ``prefix``; ``config`` is the whole ``exportConfig``, as JSON."""

    prefix: str
    config: str


@dataclass(frozen=True)
class ExportPlan:
    """The way to write an export. ``for_training``: it is written for a program that trains."""

    split: DataSplit
    annotation_schema: str
    for_training: bool


def without_ignored(body: JsonObject) -> JsonObject:
    """Returns a dataset without labels that only the service sets, which clients send back, and
    without a text as metadata, which Google takes where files are imported.
    """
    labels, is_text = body.get("labels"), isinstance(body.get("metadata"), str)
    schema = body.get("metadataSchemaUri") or body.get("metadata_schema_uri")
    if is_text and data_type_of(str(schema)) not in TABLES:
        body = {key: value for key, value in body.items() if key != "metadata"}
    if not isinstance(labels, dict):
        return body
    own = {key: value for key, value in labels.items() if not key.startswith(SYSTEM_LABELS)}
    return {**body, "labels": own}


def read_import(body: JsonObject) -> tuple[ImportedFiles, ...]:
    """Reads an import. Raises InvalidArgument with all faults."""
    understood = ImportData.understand(body)
    refuse(understood.with_rules(check_import(understood.message)))
    return tuple(
        ImportedFiles(
            config.import_schema_uri or "",
            tuple((config.gcs_source and config.gcs_source.uris) or ()),
            tuple((config.data_item_labels or {}).items()),
        )
        for config in understood.message.import_configs or ()
    )


def read_export(body: JsonObject) -> ExportRequest:
    """Reads an export. Raises InvalidArgument with all faults."""
    understood = ExportData.understand(body)
    refuse(understood.with_rules(check_export(understood.message)))
    config = understood.message.export_config
    destination = config and config.gcs_destination
    prefix = (destination and destination.output_uri_prefix) or ""
    return ExportRequest(prefix, format_object(config.encode() if config else {}))


def plan_of(config: str) -> ExportPlan:
    """Reads an accepted ``exportConfig``.

    Without a split all data is in the first set, unless it is for training.
    """
    message = ExportDataConfig.understand(json.loads(config)).message
    for_training = message.export_use is ExportUse.CUSTOM_CODE_TRAINING
    split = DataSplit(fractions=Fractions() if for_training else Fractions(training=1))
    if message.fraction_split is not None:
        split = split_of(message.fraction_split, SplitMethod.FRACTIONS)
    if message.filter_split is not None:
        split = split_of(message.filter_split, SplitMethod.FILTERS)
    return ExportPlan(split, message.annotation_schema_uri or "", for_training)
