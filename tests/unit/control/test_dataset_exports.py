"""Imports into datasets and exports from them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from footplate.buckets.folder_buckets import FolderBuckets
from footplate.control.data_exports import Stopped
from footplate.control.dataset_exports import DatasetExporter, DatasetExports, Exported
from footplate.control.dataset_files import find_files
from footplate.control.datasets import MAX_IMPORTS, Datasets, tracking_name
from footplate.domain.datasets import (
    Dataset,
    DatasetOperation,
    ImportedFiles,
    OperationKind,
    schema_uri,
)
from footplate.domain.errors import Aborted, Code, FailedPrecondition, NotFound, PermissionDenied
from footplate.domain.names import DatasetName
from footplate.domain.tracking.resources import Resource
from footplate.ports.buckets import Listing
from footplate.ports.tracking import TrackingStore
from footplate.store import open_store
from tests.support.clock import FakeClock
from tests.support.jobs import CREATED

NAME = DatasetName("demo", "us-central1", "7")


class Rig:
    def __init__(self, store: TrackingStore, buckets: FolderBuckets) -> None:
        self.store = store
        self.buckets = buckets
        self.woken = 0
        self.during: Callable[[], None] = lambda: None
        self.datasets = Datasets(store, buckets, FakeClock(CREATED), self._wake)
        self.exports = DatasetExports(store, self._export, FakeClock(CREATED))
        fields = {"displayName": "t", "metadataSchemaUri": schema_uri("text")}
        store.create((Resource(tracking_name(NAME), "uid", CREATED, CREATED, fields),))

    def begin(self) -> DatasetOperation:
        self.buckets.write("b-1", "a.jsonl", [b"{}\n"])
        self.datasets.import_files(NAME, [ImportedFiles("s", ("gs://b-1/a.jsonl",))], "v1")
        return self.datasets.export(NAME, "gs://b-1/out/", "{}", "v1")

    def export(self) -> DatasetOperation:
        self.exports.step()
        return self.datasets.operation(NAME, 2)

    def _wake(self) -> None:
        self.woken += 1

    def _export(
        self, dataset: Dataset, operation: DatasetOperation, closed: Callable[[], bool]
    ) -> Exported:
        if closed():
            raise Stopped
        self.during()
        return Exported((operation.directory, *dataset.sources), (1, 0, 0))


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    buckets = FolderBuckets(tmp_path / "buckets", FakeClock(CREATED))
    buckets.create_bucket("b-1")
    with closing(open_store(f"sqlite:///{tmp_path}/footplate.db")) as store:
        yield Rig(store.tracking, buckets)


def test_an_export_is_carried_out_once(rig: Rig) -> None:
    assert (rig.begin().end_time, rig.woken) == (None, 1)
    done = rig.export()
    assert (done.succeeded, done.files) == (True, ("gs://b-1/out/", "gs://b-1/a.jsonl"))
    rig.during = lambda: pytest.fail("it has ended")
    assert rig.export() == done


def test_one_that_was_interrupted_is_done_by_the_next_server(rig: Rig) -> None:
    rig.begin()
    rig.exports.close()
    assert rig.export().end_time is None
    rig.exports = DatasetExports(rig.store, rig._export, FakeClock(CREATED))
    assert rig.export().succeeded


def test_two_exports_never_write_to_the_same_folder(rig: Rig) -> None:
    rig.begin()
    with pytest.raises(Aborted, match="try again"):
        rig.datasets.export(NAME, "gs://b-1/out/", "{}", "v1")


def test_a_full_disk_ends_it_with_a_reason(rig: Rig) -> None:
    def fail() -> None:
        raise OSError(28, "No space left on device")

    rig.begin()
    rig.during = fail
    failed = rig.export()
    assert (failed.code, "can't be exported: " in failed.message) == (Code.UNAVAILABLE, True)


def test_a_dataset_may_change_or_disappear_meanwhile(rig: Rig) -> None:
    rig.begin()
    rig.during = lambda: assert_imports(rig, "gs://b-1/a.jsonl")
    assert rig.export().succeeded
    assert rig.datasets.operation(NAME, 3).succeeded, "the import during the export is kept"
    rig.datasets.export(NAME, "gs://b-1/again/", "{}", "v1")
    rig.during = lambda: rig.store.delete(tracking_name(NAME))
    rig.exports.step()
    with pytest.raises(NotFound):
        rig.datasets.get(NAME)


def assert_imports(rig: Rig, uri: str) -> None:
    assert rig.datasets.import_files(NAME, [ImportedFiles("s", (uri,))], "v1").succeeded


def test_only_files_that_exist_are_imported(rig: Rig) -> None:
    rig.buckets.write("b-1", "x/1.jsonl", [b""])
    files = [ImportedFiles("s", ("gs://b-1/x/*.jsonl", "gs://b-1/y/*.jsonl"))]
    failed = rig.datasets.import_files(NAME, files, "v1")
    assert (failed.code, rig.datasets.get(NAME).sources) == (Code.NOT_FOUND, ())
    assert_imports(rig, "gs://b-1/x/*.jsonl")
    assert rig.datasets.get(NAME).sources == ("gs://b-1/x/*.jsonl",)


def test_a_dataset_has_so_many_import_files(rig: Rig) -> None:
    rig.buckets.write("b-1", "a", [b""])
    many = [ImportedFiles(str(number), ("gs://b-1/a",)) for number in range(MAX_IMPORTS + 1)]
    with pytest.raises(FailedPrecondition, match="Use wildcards"):
        rig.datasets.import_files(NAME, many, "v1")


class SmallPages:
    """Buckets that list two objects at once."""

    def __init__(self, buckets: FolderBuckets) -> None:
        self._buckets = buckets
        self.stat = buckets.stat

    def list(self, bucket: str, *, prefix: str = "", token: str | None = None) -> Listing:
        return self._buckets.list(bucket, prefix=prefix, token=token, limit=2)


def test_files_are_found_in_all_pages(rig: Rig) -> None:
    for number in range(5):
        rig.buckets.write("b-1", f"n/{number}.csv", [b""])
    buckets = SmallPages(rig.buckets)
    found = find_files(buckets, "gs://b-1/n/?.csv")
    assert [each.name for each in found] == [f"n/{number}.csv" for number in range(5)]
    assert [each.name for each in find_files(buckets, "gs://b-1/n/3.csv")] == ["n/3.csv"]
    with pytest.raises(NotFound, match="gone"):
        next(find_files(buckets, "gs://gone/n/*"))


TABLE = Dataset(NAME, "t", schema_uri("tabular"), ("gs://b-1/t.csv",))


def operation(**config: object) -> DatasetOperation:
    return DatasetOperation(
        OperationKind.EXPORT,
        "v1",
        CREATED,
        directory="gs://b-1/out/",
        request=json.dumps({"gcsDestination": {"outputUriPrefix": "gs://b-1"}, **config}),
    )


def test_without_a_split_all_rows_are_in_one_set_and_the_files_are_named(rig: Rig) -> None:
    rig.buckets.write("b-1", "t.csv", [b"a,b\n", *[b"1,2\n"] * 10])
    done = DatasetExporter(rig.buckets, ("*",)).export(TABLE, operation(), lambda: False)
    with rig.buckets.read("b-1", "out/training-00000-of-00001.csv") as file:
        assert file.read() == b"a,b\n" + b"1,2\n" * 10
    assert (done.files, done.counts) == (("gs://b-1/out/training-00000-of-00001.csv",), ())


def test_an_export_for_training_is_split_and_told_by_patterns(rig: Rig) -> None:
    rig.buckets.write("b-1", "t.csv", [b"a,b\n", *[b"1,2\n"] * 10])
    asked = operation(exportUse="CUSTOM_CODE_TRAINING")
    done = DatasetExporter(rig.buckets, ("*",)).export(TABLE, asked, lambda: False)
    sets = ("training", "validation", "test")
    assert done.files == tuple(f"gs://b-1/out/{each}-*.csv" for each in sets)
    assert done.counts == (8, 1, 1)


def test_an_export_that_fails_or_is_stopped_leaves_nothing_behind(rig: Rig) -> None:
    rig.buckets.write("b-1", "t.csv", [b"a,b\n", b"1,2\n", b"1,2,3\n"])
    with pytest.raises(FailedPrecondition, match=r"t\.csv"):
        DatasetExporter(rig.buckets, ("*",)).export(TABLE, operation(), lambda: False)
    with pytest.raises(Stopped):
        DatasetExporter(rig.buckets, ("*",)).export(TABLE, operation(), lambda: True)
    assert not rig.buckets.list("b-1", prefix="out/").objects


def test_an_export_reads_no_file_of_another_project(rig: Rig) -> None:
    rig.buckets.create_bucket("b-2", project="other")
    rig.buckets.write("b-2", "t.csv", [b"a\n1\n"])
    secret = Dataset(NAME, "t", schema_uri("tabular"), ("gs://b-2/t.csv",))
    with pytest.raises(PermissionDenied, match="belongs to the project 'other'"):
        DatasetExporter(rig.buckets, ()).export(secret, operation(), lambda: False)
    assert DatasetExporter(rig.buckets, ("b-*",)).export(secret, operation(), lambda: False).files


def test_a_project_imports_and_exports_by_its_own_buckets_alone(rig: Rig) -> None:
    rig.buckets.create_bucket("others", project="secret")
    rig.buckets.write("others", "a.jsonl", [b"{}\n"])
    done = rig.datasets.import_files(NAME, [ImportedFiles("s", ("gs://others/a.jsonl",))], "v1")
    assert (done.code, rig.datasets.get(NAME).sources) == (Code.PERMISSION_DENIED, ())
    rig.begin()
    with pytest.raises(PermissionDenied, match="bucket 'others' belongs to the project 'secret'"):
        rig.datasets.export(NAME, "gs://others/out/", "{}", "v1")
