"""From CSV files to encoded data: types, gaps, splits, and the place of what is wrong."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from footplate_algorithms import columns
from footplate_algorithms.cluster import Cluster, read_cluster
from footplate_algorithms.csv_rows import CsvFiles
from footplate_algorithms.encoding import Encoder
from footplate_algorithms.errors import DataError
from footplate_algorithms.folders import Folders
from footplate_algorithms.parameters import Range
from footplate_algorithms.preparation import Prepared, Request, Target, prepare
from tests.support.algorithm_data import WORK, write_census, write_prices

CLASSES = Target(classes=True)
NUMBERS = Target(classes=False)


class Desk:
    """Prepares tables below a directory, which the user calls gs://b."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said: list[str] = []
        (folder / "work").mkdir()
        (folder / "processed").mkdir()

    def write(self, text: str, name: str = "x.csv") -> str:
        path = self.folder / name
        path.write_text(text, "utf-8")
        return str(path)

    def request(self, path: str, target: Target = CLASSES, *, preprocess: bool = True) -> Request:
        folders = Folders({"gs://b": str(self.folder)})
        return Request({"training": path}, folders, preprocess=preprocess, target=target)

    def prepare(self, request: Request) -> Prepared:
        folder = self.folder
        return prepare(request, folder / "work", folder / "processed", self.said.append)

    def refused(self, request: Request) -> str:
        with pytest.raises(DataError) as caught:
            self.prepare(request)
        return str(caught.value)


@pytest.fixture
def context(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def rows(*cells: str, times: int = 1) -> str:
    return "".join(f"{','.join(cells)}\n" for _ in range(times))


def read_table(path: Path) -> list[list[str]]:
    with path.open(newline="") as file:
        return list(csv.reader(file, skipinitialspace=True))


def test_types_categories_and_classes_are_found(context: Desk) -> None:
    path = str(write_census(context.folder / "x.csv", 500))

    prepared = context.prepare(context.request(path))

    described = prepared.metadata["columns"]
    assert [each["type"] for each in described] == ["number", "number", "number", "category"]
    assert described[3]["categories"] == sorted(WORK)
    assert described[0]["mean"] == pytest.approx(40, abs=2)
    assert described[0]["deviation"] == pytest.approx(12, abs=1)
    assert prepared.metadata["target"]["classes"] == ["<=50K", ">50K"]
    assert prepared.training.rows == 500
    assert prepared.validation is None


def test_splits_are_shares_that_do_not_overlap_and_repeat(context: Desk) -> None:
    path = str(write_census(context.folder / "x.csv", 3000))
    request = replace(context.request(path), splits=(0.2, 0.1))

    prepared = context.prepare(request)

    assert prepared.validation is not None
    assert prepared.test is not None
    counts = [each.rows for each in (prepared.training, prepared.validation, prepared.test)]
    assert sum(counts) == 3000
    assert counts == pytest.approx([2100, 600, 300], abs=80)
    processed = context.folder / "processed"
    parts = ("training", "validation", "test")
    written = [read_table(processed / f"{name}.csv") for name in parts]
    assert [len(each) for each in written] == counts
    original = read_table(context.folder / "x.csv")
    assert sorted(row for part in written for row in part) == sorted(original)


def test_gaps_are_filled_and_rows_with_many_are_left_out(context: Desk) -> None:
    plain = ["a", *map(str, range(11))]
    gap = ["a", "", *map(str, range(1, 11))]
    two = ["b", "", "", *map(str, range(2, 11))]
    none = ["", *map(str, range(11))]
    text = rows(*plain, times=5) + rows("b", *map(str, range(2, 13))) + rows(*gap)
    request = context.request(context.write(text + rows(*two) + rows(*none)))

    prepared = context.prepare(request)

    assert prepared.training.rows == 7
    assert prepared.training.features[6][0] == pytest.approx(2 / 6)  # the mean of 0, 5 times, and 2
    assert "2 left out" in context.said[-1]
    last = (context.folder / "processed" / "training.csv").read_text().splitlines()[-1]
    assert last.split(",")[1] == repr(2 / 6)


def test_empty_categories_are_one_of_their_own_and_unknown_ones_share_a_code(context: Desk) -> None:
    cells = ["1"] * 10
    text = rows("1", "x", *cells) + rows("2", "y", *cells) + rows("1", "", *cells)

    metadata = context.prepare(context.request(context.write(text))).metadata

    encoder = Encoder(metadata)
    assert metadata["columns"][0]["categories"] == ["", "x", "y"]
    codes = encoder.encode([[kind, *cells] for kind in ("", "x", "y", "never seen")])[:, 0]
    assert codes.tolist() == [0, 1, 2, 3]
    assert Encoder({**metadata, "one_hot": True}).encode([["y", *cells]])[0][:4].tolist() == [
        *(0, 0, 1, 0)
    ]


def test_many_categories_are_hashed(context: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "MAX_CATEGORIES", 10)
    text = "".join(rows("ab"[i % 2], f"text-{i}", "1") for i in range(50))

    prepared = context.prepare(context.request(context.write(text)))

    assert prepared.metadata["columns"][0]["buckets"] == 10
    codes = prepared.training.features[:, 0]
    assert set(codes) <= set(range(10))
    assert len(set(codes)) > 5
    assert any("gs://b/x.csv, row 1, column 2: 'text-0'" in said for said in context.said)


def test_the_encoder_is_a_file_of_its_own(context: Desk) -> None:
    """As it lies in the artifacts of a job: beside the metadata, without the package."""
    path = str(write_census(context.folder / "x.csv", 200))
    prepared = context.prepare(context.request(path))
    (context.folder / "metadata.json").write_text(json.dumps(prepared.metadata))

    encoder = Encoder.load(context.folder)

    encoded = encoder.encode([["50", "", "900", "Local-gov"]])
    mean = prepared.metadata["columns"][1]["mean"]
    assert encoded[0].tolist() == pytest.approx([50, mean, 900, 0])
    assert encoder.decode_target([1, 0]) == [">50K", "<=50K"]
    with pytest.raises(ValueError, match="row 0 has 2 columns; expected 4"):
        encoder.encode([["1", "2"]])


def test_files_are_read_as_columns_of_numbers_without_preprocessing(context: Desk) -> None:
    request = context.request(context.write("1,2,\n0,3,4\n"), NUMBERS, preprocess=False)

    prepared = context.prepare(request)

    assert prepared.training.features[0][0] == 2
    assert math.isnan(prepared.training.features[0][1])
    assert list((context.folder / "processed").iterdir()) == []


def test_wildcards_take_files_in_the_order_of_their_names(context: Desk) -> None:
    context.write("1,1\n2,2\n", "b.csv")
    context.write("3,3\n4,4\n", "a.csv")
    request = context.request(f"{context.folder}/*.csv", NUMBERS, preprocess=False)

    assert context.prepare(request).training.targets.tolist() == [3, 4, 1, 2]


@pytest.mark.parametrize(
    ("text", "target", "preprocess", "message"),
    [
        ("", CLASSES, True, "gs://b/x.csv: the file is empty"),
        ("\n\n", CLASSES, True, "gs://b/x.csv: the file is empty"),
        ("1\n2\n", CLASSES, True, "gs://b/x.csv, row 1 has one column; the target comes first"),
        (
            "1,2\n3,4,5\n",
            CLASSES,
            True,
            "gs://b/x.csv, row 2 has 3 columns, and the first row has 2",
        ),
        ("a,2\nb,1\n", NUMBERS, True, "gs://b/x.csv, row 1, column 1: 'a' is no number, and the"),
        ("1,2\n2,x\n", NUMBERS, False, "gs://b/x.csv, row 2, column 2: 'x' is no number; --pre"),
        ("1,2\n2,inf\n", NUMBERS, False, "gs://b/x.csv, row 2, column 2: 'inf' is infinite"),
        (
            "y,age\n1,2\n2,3\n",
            NUMBERS,
            True,
            "gs://b/x.csv, row 1, column 1: 'y' is the only value of its column that is no number",
        ),
        (
            "1,2\n-1,3\n",
            Target(classes=False, range=Range(0)),
            True,
            "gs://b/x.csv, row 2, column 1: '-1' given; allowed: a number at least 0, by the obj",
        ),
        ("1,2\n1,3\n", CLASSES, True, "column 1, the target, has 1 class; at least 2 are needed"),
        ("1,2\n,3\n2,\n", Target(classes=True, limit=2), False, "gs://b/x.csv, row 3, column 1: "),
        ('1,"2\n', NUMBERS, True, "gs://b/x.csv, row 1: unexpected end of data"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(
    context: Desk,
    text: str,
    target: Target,
    preprocess: bool,  # noqa: FBT001
    message: str,
) -> None:
    request = context.request(context.write(text), target, preprocess=preprocess)
    assert context.refused(request).startswith(message)


def test_more_of_what_is_wrong(context: Desk) -> None:
    missing = context.request(f"{context.folder}/none.csv")
    assert context.refused(missing) == "gs://b/none.csv: there is no such file"
    nothing = context.request(f"{context.folder}/none*.csv")
    assert context.refused(nothing) == "gs://b/none*.csv: no file matches"
    assert "is a directory; allowed: a CSV file" in context.refused(
        context.request(str(context.folder))
    )
    (context.folder / "x.csv").write_bytes(b"1,2\n3,\xff\n")
    assert "the file isn't UTF-8" in context.refused(context.request(str(context.folder / "x.csv")))
    gaps = context.request(context.write("1,2\n2,\n"), NUMBERS, preprocess=False)
    assert context.refused(replace(gaps, gaps=False)) == (
        "gs://b/x.csv, row 2, column 2: the value is missing; --preprocess fills missing values"
    )


def test_validation_data_has_to_be_like_the_training_data(context: Desk) -> None:
    request = context.request(context.write("a,1\nb,2\n"))
    for text, message in (
        ("c,1\n", "gs://b/v.csv, row 1, column 1: the training data has no class 'c'"),
        ("a,x\n", "gs://b/v.csv, row 1, column 2: 'x' is no number, as it is in the training"),
        ("a,1,2\n", "gs://b/v.csv, row 1 has 3 columns, and the training data has 2"),
    ):
        paths = {**request.paths, "validation": context.write(text, "v.csv")}
        assert context.refused(replace(request, paths=paths)).startswith(message)


def test_a_row_is_named_by_its_line_in_large_files_too(context: Desk) -> None:
    path = write_prices(context.folder / "x.csv", 25_000)
    with path.open("a") as file:
        file.write("1,2,3,4,5,6\n")

    said = context.refused(context.request(str(path), NUMBERS))

    assert said == "gs://b/x.csv, row 25001 has 6 columns, and the first row has 5"


def test_replicas_share_the_rows(context: Desk) -> None:
    config = {"cluster": {"master": ["h:1"], "worker": ["h:2", "h:3"]}}

    def cluster(role: str, index: int) -> Cluster:
        return read_cluster(json.dumps({**config, "task": {"type": role, "index": index}}))

    own = [cluster("master", 0), cluster("worker", 0), cluster("worker", 1)]
    assert [each.index for each in own] == [0, 1, 2]
    assert {(each.size, each.host, each.port) for each in own} == {(3, "h", 1)}
    for name in "abcd":
        context.write("1,2\n", f"{name}.csv")
    files = CsvFiles(f"{context.folder}/*.csv", Folders({}))
    shares = [each.files(files) for each in own]
    assert [len(paths) for paths, _, _ in shares] == [2, 1, 1]
    alone = CsvFiles(f"{context.folder}/a.csv", Folders({}))
    assert [each.files(alone)[1:] for each in own] == [(0, 3), (1, 3), (2, 3)]


@pytest.mark.parametrize("text", [None, "", "{}", '{"cluster": {"master": ["h:1"]}}'])
def test_without_a_cluster_there_is_one_replica(text: str | None) -> None:
    assert read_cluster(text) == Cluster()


def test_a_constant_column_can_be_divided_by_its_deviation(context: Desk) -> None:
    prepared = context.prepare(context.request(context.write("1,5,0.1\n2,5,0.1\n"), NUMBERS))
    assert [each["deviation"] for each in prepared.metadata["columns"]] == [1, 1]
    assert np.asarray(prepared.training.features).tolist() == [
        pytest.approx([5, 0.1]),
        pytest.approx([5, 0.1]),
    ]
