"""The rules for resources of metadata stores and TensorBoards, and for datasets.

Source: the service's API reference for these resources and the requests that create them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from footplate.domain.errors import Violation
from footplate.wire.json_text import describe
from footplate.wire.shared_rules import check_labels
from footplate.wire.vertex_v1 import tracking_models as models
from footplate.wire.vertex_v1.dataset_models import Dataset
from footplate.wire.vertex_v1.rules.datasets import check_dataset
from footplate.wire.vertex_v1.tracking_kinds import Kind

_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,127}")
_ID_RULE = "1 to 128 lowercase letters, digits and dashes; the first is a letter or digit"
MAX_SCHEMA_TITLE = 256
MAX_PLUGIN_DATA = 87_384
"""65 KiB as base64."""


def check_id(given: str, field: str) -> Iterator[Violation]:
    if not _ID.fullmatch(given):
        yield Violation(field, f"{describe(given)} given; allowed: {_ID_RULE}")


def check_resource(kind: Kind, resource: models.Tracked, at: str = "") -> Iterator[Violation]:
    """Yields faults of a resource; ``at`` is put before the names of fields in messages."""
    fields = resource.encode()
    for name in kind.required:
        if not fields.get(name):
            yield Violation(f"{at}{name}", "required")
    name = (resource.display_name if isinstance(resource, models.Named) else None) or ""
    if len(name) > kind.longest_name:
        rule = f"{len(name)} characters given; allowed: at most {kind.longest_name}"
        yield Violation(f"{at}displayName", rule)
    if isinstance(resource, models.Labelled):
        yield from check_labels(resource.labels or {}, f"{at}labels")
    title = fields.get("schemaTitle") or ""
    if isinstance(title, str) and len(title) > MAX_SCHEMA_TITLE:
        rule = f"{len(title)} characters given; allowed: at most {MAX_SCHEMA_TITLE}"
        yield Violation(f"{at}schemaTitle", rule)
    if isinstance(resource, Dataset):
        yield from check_dataset(resource, at)
    if isinstance(resource, models.TensorboardTimeSeries):
        yield from _check_series(resource, at)


def _check_series(series: models.TensorboardTimeSeries, at: str) -> Iterator[Violation]:
    if series.value_type == models.ValueType(0):
        said = f"{series.value_type.name} given; allowed: SCALAR, TENSOR, BLOB_SEQUENCE"
        yield Violation(f"{at}valueType", said)
    if len(series.plugin_data or "") > MAX_PLUGIN_DATA:
        yield Violation(f"{at}pluginData", "more than 65 KiB given")
