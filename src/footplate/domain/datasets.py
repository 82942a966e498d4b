"""Managed datasets: where the files of the data lie, and what is done with them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum

from footplate.domain.errors import Code
from footplate.domain.names import DatasetName

SCHEMAS = "gs://google-cloud-aiplatform/schema/dataset"
_METADATA = f"{SCHEMAS}/metadata/"
TABLES = ("tabular", "time_series")
DATA_TYPES = ("image", "tabular", "text", "time_series", "video")
MAX_OPERATIONS = 100
"""Ended imports and exports that are kept of a dataset, the newest ones."""


def schema_uri(data_type: str) -> str:
    return f"{_METADATA}{data_type}_1.0.0.yaml"


def data_type_of(metadata_schema_uri: str) -> str:
    """Returns which of the ``DATA_TYPES`` a schema is for; empty: none."""
    return next((each for each in DATA_TYPES if schema_uri(each) == metadata_schema_uri), "")


@dataclass(frozen=True)
class ImportedFiles:
    """Import files; ``labels`` are given to each data item in them."""

    schema_uri: str
    uris: tuple[str, ...]
    labels: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Dataset:
    """A dataset. ``sources`` are URIs (gs://) of its files, and may have wildcards.

    Those of a tabular dataset are CSV files. Those of another one are import files (JSONL or CSV):
    all of ``imports``, the oldest first.
    """

    name: DatasetName
    display_name: str
    metadata_schema_uri: str
    sources: tuple[str, ...]
    imports: tuple[ImportedFiles, ...] = ()

    @property
    def is_tabular(self) -> bool:
        return self.data_type in TABLES

    @property
    def data_type(self) -> str:
        return data_type_of(self.metadata_schema_uri)


class OperationKind(Enum):
    IMPORT = "import"
    EXPORT = "export"


@dataclass(frozen=True)
class DatasetOperation:
    """An import or export; ``number`` counts both from 1 within the dataset.

    It has ended once ``end_time`` is set, and succeeded if ``code`` is OK. An export writes below
    ``directory``; ``request`` is its ``exportConfig``, as JSON, and ``files`` are what it wrote.
    """

    kind: OperationKind
    api_version: str
    create_time: datetime
    number: int = 0
    end_time: datetime | None = None
    code: Code = Code.OK
    message: str = ""
    directory: str = ""
    request: str = "{}"
    files: tuple[str, ...] = ()
    counts: tuple[int, ...] = ()
    """The rows or items in the training, validation and test sets."""

    @property
    def succeeded(self) -> bool:
        return self.end_time is not None and self.code is Code.OK


def add_operation(
    operations: Sequence[DatasetOperation], new: DatasetOperation
) -> tuple[DatasetOperation, ...]:
    """Adds an operation with the next number, and drops the oldest ended ones beyond the limit."""
    number = 1 + max((each.number for each in operations), default=0)
    ended = [each.number for each in operations if each.end_time is not None]
    dropped = set(ended[: max(0, len(ended) - MAX_OPERATIONS + 1)])
    kept = (each for each in operations if each.number not in dropped)
    return (*kept, replace(new, number=number))


def merge_imports(
    earlier: Sequence[ImportedFiles], added: Sequence[ImportedFiles]
) -> tuple[ImportedFiles, ...]:
    """Adds import files, one entry for each file.

    A file that was imported before stays one: its new labels are added to its earlier ones, as in
    Google's service.
    """
    found: dict[tuple[str, str], dict[str, str]] = {}
    for files in (*earlier, *added):
        for uri in files.uris:
            found.setdefault((files.schema_uri, uri), {}).update(files.labels)
    return tuple(
        ImportedFiles(schema, (uri,), tuple(labels.items()))
        for (schema, uri), labels in found.items()
    )
