"""Exports of models."""

from __future__ import annotations

from pathlib import Path

import pytest

from footplate.buckets.folder_buckets import FolderBuckets
from footplate.control.exports import Exports
from footplate.control.models import ModelRegistry
from footplate.domain.errors import Code, FailedPrecondition, InvalidArgument
from footplate.domain.model_registry import Export
from tests.support.clock import FakeClock
from tests.support.models import MemoryModels, make_model
from tests.support.vizier import CountingIds

MODEL = make_model(artifact_uri="gs://b/m/model/")


class Rig:
    def __init__(self, folder: Path) -> None:
        self.models = MemoryModels()
        self.buckets = FolderBuckets(folder, FakeClock())
        self.buckets.create_bucket("b-1")
        self.registry = ModelRegistry(self.models, self.buckets, FakeClock(), CountingIds())
        self.exports = Exports(self.models, self.buckets, FakeClock())

    def export(self) -> Export:
        self.exports.step()
        return self.models.get(MODEL.name).exports[0]

    def names(self, prefix: str) -> list[str]:
        return [each.name for each in self.buckets.list("b-1", prefix=prefix).objects]


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    rig = Rig(tmp_path / "buckets")
    rig.models.create(make_model(artifact_uri="gs://b-1/m/model/"))
    rig.buckets.write("b-1", "m/model/a.txt", [b"one"])
    rig.buckets.write("b-1", "m/model/sub/b.txt", [b"two"])
    rig.buckets.write("b-1", "m/model2/c.txt", [b"other"])
    return rig


def test_all_files_are_copied(rig: Rig) -> None:
    rig.registry.export(MODEL.name, "", "gs://b-1/x/", "v1")
    export = rig.export()
    assert (export.code, export.end_time is None) == (Code.OK, False)
    assert rig.names("x/") == ["x/a.txt", "x/sub/b.txt"]
    with rig.buckets.read("b-1", "x/sub/b.txt") as file:
        assert file.read() == b"two"
    assert rig.models.exporting() == ()


def test_one_that_was_interrupted_is_done_by_the_next_server(rig: Rig) -> None:
    rig.registry.export(MODEL.name, "", "gs://b-1/x/", "v1")
    rig.exports.close()
    assert rig.export().end_time is None
    assert rig.names("x/") == []
    rig.exports = Exports(rig.models, rig.buckets, FakeClock())
    assert rig.export().code is Code.OK


def test_without_files_it_fails_with_a_reason(rig: Rig) -> None:
    rig.registry.export(MODEL.name, "", "gs://b-1/x/", "v1")
    for name in rig.names("m/model/"):
        rig.buckets.delete("b-1", name)
    export = rig.export()
    assert (export.code, export.message) == (
        Code.NOT_FOUND,
        "the folder gs://b-1/m/model/ has no files to export",
    )


def test_what_cant_be_exported_is_refused(rig: Rig) -> None:
    with pytest.raises(InvalidArgument, match="outputUriPrefix"):
        rig.registry.export(MODEL.name, "", "gs://nowhere/x/", "v1")
    rig.models.create(make_model("plain"))
    with pytest.raises(FailedPrecondition, match="no files in a bucket"):
        rig.registry.export(make_model("plain").name, "", "gs://b-1/x/", "v1")
