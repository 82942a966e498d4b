"""Managed datasets: where the files of the data lie. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from footplate.domain.names import DatasetName

TABULAR = "tabular"
_SCHEMA_FOLDER = "gs://google-cloud-aiplatform/schema/dataset/metadata/"


@dataclass(frozen=True)
class ImportedFiles:
    """Import files of one request; ``labels`` are given to each data item in them."""

    schema_uri: str
    uris: tuple[str, ...]
    labels: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Dataset:
    """A dataset. ``sources`` are URIs (gs://) of its files, which may end in a wildcard ``*``.

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
        return self.data_type == TABULAR

    @property
    def data_type(self) -> str:
        """Returns the type in the URI of the schema: tabular, image, text, video; else empty."""
        leaf = self.metadata_schema_uri.removeprefix(_SCHEMA_FOLDER)
        return "" if "/" in leaf else leaf.partition("_")[0]
