"""What a pipeline says of its dataset is compared with the dataset when it is created."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from footplate.control.resource_checks import dataset_violations
from footplate.domain.data_splits import DataSplit, SplitMethod
from footplate.domain.datasets import Dataset, schema_uri
from footplate.domain.names import parse_dataset_name
from footplate.domain.pipelines import InputData, Pipeline
from footplate.domain.submission import Location, Submission
from tests.support.jobs import make_spec

if TYPE_CHECKING:
    from footplate.domain.names import DatasetName

NAME = parse_dataset_name("projects/demo/locations/us-central1/datasets/17")


def violations(data_type: str | None, **more: Any) -> list[str]:
    """``data_type`` is that of the dataset; None: it doesn't exist."""
    pipeline = Pipeline("p", "{}", data=InputData(str(NAME), "gs://b/out", **more))
    where = Location("demo", "us-central1")
    submission = Submission(
        name=where, display_name="p", spec=make_spec(), request="{}", pipeline=pipeline
    )

    def find(name: DatasetName) -> Dataset | None:
        assert name == NAME
        return Dataset(name, "d", schema_uri(data_type), ()) if data_type else None

    found = dataset_violations(submission, find)
    return [f"{each.field.removeprefix('inputDataConfig.')} {each.description}" for each in found]


def test_the_dataset_must_exist() -> None:
    (said,) = violations(None)
    assert said == f"datasetId '17' given, but {NAME} doesn't exist; create it first"


@pytest.mark.parametrize("method", list(SplitMethod))
def test_each_split_is_for_some_types_of_data(method: SplitMethod) -> None:
    split = DataSplit(method, key="c", filters=("-", "-", "-"))
    of_table, of_texts = violations("tabular", split=split), violations("text", split=split)
    assert bool(of_table) == (method is SplitMethod.FILTERS)
    tables = (SplitMethod.PREDEFINED, SplitMethod.TIMES, SplitMethod.STRATA)
    assert bool(of_texts) == (method in tables)
    assert all(each.startswith(f"{method.value} given, but") for each in of_table + of_texts)


def test_tables_have_no_annotations() -> None:
    schema = "gs://google-cloud-aiplatform/schema/dataset/annotation/text_extraction_1.0.0.yaml"
    (said,) = violations("tabular", annotation_schema=schema)
    assert said.startswith("annotationSchemaUri given, but the dataset is a table")
    assert violations("text", annotation_schema=schema) == []
