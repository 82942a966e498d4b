"""Datasets and their operations."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from footplate.domain.datasets import (
    DATA_TYPES,
    MAX_OPERATIONS,
    Dataset,
    DatasetOperation,
    ImportedFiles,
    OperationKind,
    add_operation,
    data_type_of,
    merge_imports,
    schema_uri,
)
from footplate.domain.errors import NotFound
from footplate.domain.export_folders import export_folder
from footplate.domain.names import DatasetName, parse_dataset_name
from tests.support.jobs import CREATED

NAME = DatasetName("demo", "us-central1", "7")


def test_a_name_is_parsed_as_it_is_spelled() -> None:
    assert parse_dataset_name(str(NAME)) == NAME
    with pytest.raises(NotFound, match="is not the name of a dataset"):
        parse_dataset_name(f"{NAME}/dataItems/1")


@pytest.mark.parametrize("data_type", DATA_TYPES)
def test_a_schema_tells_the_type_of_the_data(data_type: str) -> None:
    dataset = Dataset(NAME, "x", schema_uri(data_type), ())
    assert dataset.data_type == data_type
    assert dataset.is_tabular is (data_type in ("tabular", "time_series"))


def test_other_schemas_have_no_type() -> None:
    assert data_type_of("gs://google-cloud-aiplatform/schema/dataset/metadata/x_1.0.0.yaml") == ""


def test_a_file_that_is_imported_again_gets_more_labels() -> None:
    first = [ImportedFiles("s", ("gs://b/1", "gs://b/2"), (("a", "1"), ("b", "1")))]
    again = [ImportedFiles("s", ("gs://b/2",), (("b", "2"),)), ImportedFiles("t", ("gs://b/2",))]
    assert merge_imports(first, again) == (
        ImportedFiles("s", ("gs://b/1",), (("a", "1"), ("b", "1"))),
        ImportedFiles("s", ("gs://b/2",), (("a", "1"), ("b", "2"))),
        ImportedFiles("t", ("gs://b/2",)),
    )


def test_numbers_of_operations_are_not_used_again_and_open_ones_are_kept() -> None:
    begun = DatasetOperation(OperationKind.EXPORT, "v1", CREATED)
    ended = DatasetOperation(OperationKind.IMPORT, "v1", CREATED, end_time=CREATED)
    operations = add_operation((), begun)
    for _ in range(MAX_OPERATIONS + 5):
        operations = add_operation(operations, ended)
    numbers = [each.number for each in operations]
    assert numbers == [1, *range(7, MAX_OPERATIONS + 7)]


def test_a_folder_of_an_export_has_a_plain_name() -> None:
    folder = export_folder("gs://b/x/", "export-data", "a b/ü", CREATED + timedelta(milliseconds=5))
    assert re.fullmatch(r"gs://b/x/export-data-a-b-[0-9T:.-]+\.\d{3}Z/", folder)
