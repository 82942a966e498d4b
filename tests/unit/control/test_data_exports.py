"""The data of datasets is written, split, and can be written again at any point."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate.buckets.folder_buckets import FolderBuckets
from footplate.control import data_rows
from footplate.control.data_exports import ExportedData, annotation_of, export_data
from footplate.domain.data_splits import DEFAULT, NOTHING, DataSplit, Fractions, SplitMethod
from footplate.domain.datasets import Dataset, ImportedFiles, schema_uri
from footplate.domain.errors import Aborted, FailedPrecondition, NotFound, ServiceError
from footplate.domain.names import DatasetName
from tests.support.clock import FakeClock
from tests.support.crashes import Crash, CrashPoint, mortal

NAME = DatasetName("demo", "us-central1", "17")
IO = "gs://google-cloud-aiplatform/schema/dataset/ioformat/"
USE = "aiplatform.googleapis.com/ml_use"
ONLY_TRAINING = DataSplit(fractions=Fractions(1.0))
WRITES = 12
"""More points than an export of the tests has."""


class Rig:
    def __init__(self, folder: Path) -> None:
        self.buckets = FolderBuckets(folder, FakeClock())
        self.buckets.create_bucket("b-1")
        self.shard_bytes = 1 << 20

    def put(self, name: str, content: bytes) -> str:
        self.buckets.write("b-1", name, [content])
        return f"gs://b-1/{name}"

    def export(
        self, dataset: Dataset, split: DataSplit = DEFAULT, schema: str = ""
    ) -> ExportedData:
        return export_data(
            dataset,
            split,
            "gs://b-1/out",
            self.buckets,
            lambda: None,
            annotation_schema=schema,
            shard_bytes=self.shard_bytes,
        )

    def files(self) -> dict[str, bytes]:
        found = {}
        for each in self.buckets.list("b-1", prefix="out/").objects:
            with self.buckets.read("b-1", each.name) as file:
                found[each.name.removeprefix("out/")] = file.read()
        return found

    def fault(self, content: bytes, split: DataSplit = ONLY_TRAINING) -> str:
        with pytest.raises(ServiceError) as caught:
            self.export(table(self.put("a.csv", content)), split)
        return caught.value.message


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    rig = Rig(tmp_path / "buckets")
    yield rig
    rig.buckets.close()


def table(*uris: str) -> Dataset:
    return Dataset(NAME, "d", schema_uri("tabular"), uris)


def items(format_name: str, *uris: str, **labels: str) -> Dataset:
    imported = ImportedFiles(f"{IO}{format_name}_io_format_1.0.0.yaml", uris, tuple(labels.items()))
    return Dataset(NAME, "d", schema_uri(format_name.partition("_")[0]), uris, (imported,))


def test_each_file_has_the_header_and_each_row_is_in_one(rig: Rig) -> None:
    rows = [b'%d,"x, %d\n y"\n' % (number, number) for number in range(100)]
    first = rig.put("t/a.csv", b"id,text\n" + b"".join(rows[:60]))
    rig.put("t/b.csv", b"id,text\n" + b"".join(rows[60:]).removesuffix(b"\n"))
    rig.shard_bytes = 300
    found = rig.export(table("gs://b-1/t/*.csv", first))
    assert found.counts == (80, 10, 10)
    assert found.patterns[0] == "gs://b-1/out/training-*.csv"
    files = rig.files()
    assert "training-00000-of-00004.csv" in files
    assert {name.partition("-0")[0] for name in files} == {"training", "validation", "test"}
    assert all(content.startswith(b"id,text\n") for content in files.values())
    written = b"".join(content.removeprefix(b"id,text\n") for content in files.values())
    assert Counter(written.split(b'y"\n')) == Counter(b"".join(rows).split(b'y"\n'))


def test_a_set_without_rows_has_a_file_with_the_header(rig: Rig) -> None:
    found = rig.export(table(rig.put("a.csv", b"\xef\xbb\xbfa\r\n\r\n1\r\n")), ONLY_TRAINING)
    assert found.counts == (1, 0, 0)
    assert rig.files() == {
        "test-00000-of-00001.csv": b"a\r\n",
        "training-00000-of-00001.csv": b"a\r\n1\r\n",
        "validation-00000-of-00001.csv": b"a\r\n",
    }


def test_columns_assign_rows(rig: Rig) -> None:
    uri = rig.put("a.csv", b'a,"the use"\n1,test\n2,"training"\n3,other\n4,validation\n')
    found = rig.export(table(uri), DataSplit(SplitMethod.PREDEFINED, key="the use"))
    assert (found.counts, found.ignored) == ((1, 1, 1), 1)
    assert rig.files()["test-00000-of-00001.csv"].endswith(b"\n1,test\n")
    assert found.describe().endswith("1 for training, 1 for validation and 1 for test; "
                                     "1 rows are in no set")  # fmt: skip


def test_labels_assign_data_items(rig: Rig) -> None:
    lines = [
        {"imageGcsUri": f"gs://b-1/{use}.jpg", "dataItemResourceLabels": {USE: use}}
        for use in ("training", "test", "validation", "training")
    ]
    uri = rig.put("a.jsonl", b"\n".join(json.dumps(each).encode() for each in lines))
    wanted = (f"labels.{USE}=training", f"labels.{USE}=validation", NOTHING)
    dataset = items("image_classification_single_label", uri, team="a")
    found = rig.export(dataset, DataSplit(SplitMethod.FILTERS, filters=wanted))
    assert (found.format, found.counts, found.ignored) == ("jsonl", (2, 1, 0), 1)
    files = rig.files()
    assert files["test-00000-of-00001.jsonl"] == b""
    item = json.loads(files["validation-00000-of-00001.jsonl"])
    assert item["dataItemResourceLabels"] == {"team": "a", USE: "validation"}


def test_only_imports_of_the_kind_of_annotations_are_used(rig: Rig) -> None:
    one = items("image_classification_single_label", rig.put("1.csv", b"gs://b-1/1.jpg,daisy\n"))
    two = items("image_bounding_box", rig.put("2.csv", b"gs://b-1/2.jpg,,,,,,,,,\n"))
    both = Dataset(NAME, "d", one.metadata_schema_uri, (), one.imports + two.imports)
    schema = "gs://google-cloud-aiplatform/schema/dataset/annotation/image_bounding_box_1.0.0.yaml"
    assert annotation_of(schema) == "image_bounding_box"
    rig.export(both, ONLY_TRAINING, schema)
    assert b"2.jpg" in rig.files()["training-00000-of-00001.jsonl"]
    assert b"1.jpg" not in rig.files()["training-00000-of-00001.jsonl"]
    with pytest.raises(FailedPrecondition, match=r"no imports with annotations text.*image_bound"):
        rig.export(both, ONLY_TRAINING, schema.replace("image", "text"))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "gs://b-1/a.csv is empty; its first line must name the columns"),
        (b"a,b\n", "the dataset has no rows"),
        (b"a,b\n1,2\n\n3\n", "line 4 of gs://b-1/a.csv has 1 columns, and the header 2; correct"),
        (b'a,b\n1,"2"x\n', "line 2 of gs://b-1/a.csv is no CSV (',' expected after '\"')"),
        (b'a,b\n1,"2\n', "line 2 of gs://b-1/a.csv is no CSV (unexpected end of data)"),
    ],
)
def test_wrong_data_names_the_line(rig: Rig, content: bytes, said: str) -> None:
    assert said in rig.fault(content)
    assert rig.files() == {}


def test_huge_values_and_rows_are_refused(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = csv.field_size_limit()
    for other in (limit, 1 << 30):  # others in the process may raise it
        csv.field_size_limit(other)
        assert "field larger than field limit (131072)" in rig.fault(b"a\n" + b"1" * 200_000)
    csv.field_size_limit(limit)
    monkeypatch.setattr(data_rows, "MAX_LINE_BYTES", 100)
    assert "line 2 of gs://b-1/a.csv is longer than 100 bytes" in rig.fault(b"a\n" + b"1," * 60)
    many = rig.fault(b"a\n" + b'"\n",' * 60)
    assert "line 2 of gs://b-1/a.csv begins a row of too many lines; is a quote missing?" in many


@pytest.mark.parametrize(
    ("split", "said"),
    [
        (DEFAULT, "fractionSplit puts none of the 2 rows into the set test: add rows, or"),
        (
            DataSplit(SplitMethod.PREDEFINED, key="a"),
            "predefinedSplit by the column 'a' puts none of the 2 rows into the set training",
        ),
        (DataSplit(SplitMethod.TIMES, key="c"), "has no column 'c', which the split needs; it has"),
    ],
)
def test_a_split_that_does_not_fit_says_why(rig: Rig, split: DataSplit, said: str) -> None:
    assert said in rig.fault(b"a,b\n1,2\n3,4\n", split)


def test_a_file_that_is_gone_or_replaced_is_no_other_data(rig: Rig) -> None:
    with pytest.raises(NotFound, match=r"no file matches gs://b-1/\*\.csv"):
        rig.export(table("gs://b-1/*.csv"))
    dataset = table(rig.put("a.csv", b"a\n1\n2\n3\n"))
    seen = 0

    def replace_later() -> None:
        nonlocal seen
        seen += 1
        if seen == 4:
            rig.put("a.csv", b"a\n1\n2\n3\n4\n")

    with pytest.raises(Aborted, match=r"gs://b-1/a\.csv was replaced"):
        export_data(dataset, DEFAULT, "gs://b-1/out", rig.buckets, replace_later)


def test_a_death_at_any_point_leaves_nothing_else(rig: Rig) -> None:
    """The data changes between the death and the next export, so the number of files differs."""
    before = b"a\n" + b"".join(b"%d\n" % number for number in range(60))
    after = before.replace(b"\n7\n", b"\n") + b"x\n" * 30
    rig.shard_bytes = 50
    rig.export(table(rig.put("a.csv", after)))
    expected = rig.files()
    deaths = 0
    for point in range(WRITES):
        for name in rig.files():
            rig.buckets.delete("b-1", f"out/{name}")
        crash_point = CrashPoint()
        crash_point.arm(point)
        dying = mortal(rig.buckets, crash_point, "write", "delete")
        dataset = table(rig.put("a.csv", before))
        try:
            export_data(dataset, DEFAULT, "gs://b-1/out", dying, lambda: None, shard_bytes=50)
        except Crash:
            deaths += 1
        rig.put("a.csv", after)
        rig.export(dataset)
        assert rig.files() == expected
    assert deaths >= 10
