"""Reads a dataset from the stored fields of its record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from footplate.domain.datasets import Dataset, ImportedFiles
from footplate.domain.names import DatasetName
from footplate.domain.tracking.resources import DISPLAY_NAME, Resource

IMPORTS = "importConfigs"
"""The import configurations of all imports so far, as the API has them."""


def dataset_of(record: Resource) -> Dataset:
    name = DatasetName(record.name.project, record.name.location, record.name.id)
    fields: Any = record.fields
    imports = tuple(map(_imported, fields.get(IMPORTS, ())))
    tables = table_uris(fields.get("metadata"))
    return Dataset(
        name,
        record.text(DISPLAY_NAME),
        record.text("metadataSchemaUri"),
        tuple(tables) or tuple(uri for files in imports for uri in files.uris),
        imports,
    )


def table_uris(metadata: Any) -> Sequence[str]:
    """Returns the URIs of a tabular dataset's CSV files. The metadata may be any JSON value."""
    found = metadata
    for key in ("inputConfig", "gcsSource", "uri"):
        found = found.get(key) if isinstance(found, dict) else None
    return [uri for uri in found if isinstance(uri, str)] if isinstance(found, list) else []


def _imported(config: Any) -> ImportedFiles:
    return ImportedFiles(
        config["importSchemaUri"],
        tuple(config["gcsSource"]["uris"]),
        tuple(config.get("dataItemLabels", {}).items()),
    )
