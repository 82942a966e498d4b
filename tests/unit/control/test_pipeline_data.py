"""The data of pipelines is written beside everything else, and ends with its pipeline."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from threading import Event
from typing import TYPE_CHECKING

import pytest

from footplate.buckets.folder_buckets import FolderBuckets
from footplate.control.data_exports import ExportedData
from footplate.control.pipeline_data import AT_ONCE, PipelineData
from footplate.domain.datasets import Dataset, schema_uri
from footplate.domain.errors import NotFound, PermissionDenied, Unavailable
from footplate.domain.names import TrainingPipelineName, parse_dataset_name
from footplate.domain.pipelines import InputData
from tests.support.clock import FakeClock
from tests.support.jobs import make_job

if TYPE_CHECKING:
    from footplate.domain.jobs import Job
    from footplate.domain.names import DatasetName, JobUid

DATA = InputData("projects/demo/locations/us-central1/datasets/17", "gs://b-1/out/")
FOLDER = "gs://b-1/out/dataset-17-tabular-2026-01-02T03:04:05.678901Z"
LIMIT_S = 60


def pipeline(uid: str = "abc") -> Job:
    spec = make_job("projects/demo/locations/us-central1/customJobs/17").spec
    return make_job(
        TrainingPipelineName("demo", "us-central1", uid),
        uid=uid,
        spec=replace(spec, directories=()),
    )


class Rig:
    """``gate`` is open: exports go on to read the dataset."""

    def __init__(self, folder: Path) -> None:
        self.buckets = FolderBuckets(folder, FakeClock())
        for name in ("b-1", "b-2"):
            self.buckets.create_bucket(name, project="demo" if name == "b-1" else "other")
        self.buckets.write("b-1", "a.csv", [b"a\n", *(b"%d\n" % i for i in range(10))])
        self.uri = "gs://b-1/a.csv"
        self.ended: SimpleQueue[JobUid] = SimpleQueue()
        self.began: SimpleQueue[str] = SimpleQueue()
        self.gate = Event()
        self.gate.set()
        self.leads = True
        self.missing = False
        self.data = self.make()

    def make(self) -> PipelineData:
        return PipelineData(self.buckets, (), self._find, lambda: self.leads, self.ended.put)

    def _find(self, name: DatasetName) -> Dataset:
        if self.missing:
            raise NotFound(f"{name} does not exist")
        self.began.put(name.dataset_id)
        assert self.gate.wait(LIMIT_S)
        return Dataset(name, "d", schema_uri("tabular"), (self.uri,))

    def wait(self, job: Job) -> ExportedData | None:
        assert self.data.take(job, DATA) is None
        assert self.ended.get(timeout=LIMIT_S) == job.uid
        return self.data.take(job, DATA)

    def names(self) -> list[str]:
        return [each.name for each in self.buckets.list("b-1", prefix="out/").objects]


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    rig = Rig(tmp_path / "buckets")
    yield rig
    rig.gate.set()
    rig.data.close()
    rig.buckets.close()


def test_it_is_written_into_a_folder_of_the_pipeline(rig: Rig) -> None:
    found = rig.wait(pipeline())
    assert found == ExportedData(FOLDER, "csv", (8, 1, 1))
    assert len(rig.names()) == 3
    assert parse_dataset_name(DATA.dataset).dataset_id == "17"


def test_what_a_pipeline_waits_for_stops_no_other(rig: Rig) -> None:
    rig.gate.clear()
    jobs = [pipeline(f"job-{number}") for number in range(AT_ONCE + 1)]
    for job in jobs:
        assert rig.data.take(job, DATA) is None
    rig.gate.set()
    assert {rig.ended.get(timeout=LIMIT_S) for _ in jobs} == {job.uid for job in jobs}
    assert all(rig.data.take(job, DATA) for job in jobs)


def test_files_of_another_project_are_refused(rig: Rig) -> None:
    rig.uri = "gs://b-2/secret.csv"
    with pytest.raises(PermissionDenied, match="belongs to the project 'other'"):
        rig.wait(pipeline())
    rig.missing = True
    with pytest.raises(NotFound, match="datasets/17 does not exist"):
        rig.wait(pipeline())
    assert rig.names() == []


def test_a_cancelled_export_ends_and_leaves_no_file(rig: Rig) -> None:
    rig.gate.clear()
    job = pipeline()
    assert rig.data.cancel(job.uid)
    assert rig.data.take(job, DATA) is None
    assert rig.began.get(timeout=LIMIT_S) == "17"
    assert not rig.data.cancel(job.uid)
    rig.gate.set()
    assert rig.ended.get(timeout=LIMIT_S) == job.uid
    assert rig.data.cancel(job.uid)
    assert rig.names() == []


def test_a_server_that_stops_or_leads_no_longer_writes_nothing_more(rig: Rig) -> None:
    rig.gate.clear()
    job = pipeline()
    assert rig.data.take(job, DATA) is None
    assert rig.began.get(timeout=LIMIT_S) == "17"
    rig.leads = False
    rig.gate.set()
    rig.data.close()
    assert (rig.data.take(job, DATA), rig.names()) == (None, [])
    rig.leads = True
    assert rig.data.take(job, DATA) is None
    rig.data = rig.make()
    assert rig.ended.get(timeout=LIMIT_S) == job.uid
    assert rig.wait(job) is not None


def test_a_bucket_that_is_away_is_tried_again(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    job = pipeline()
    with monkeypatch.context() as patched:

        def be_away(*_: object, **__: object) -> None:
            raise Unavailable("the disk is full")

        patched.setattr(rig.buckets, "write", be_away)
        with pytest.raises(Unavailable):
            rig.wait(job)
    assert rig.wait(job) is not None
