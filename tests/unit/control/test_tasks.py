from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from footplate import catalogue
from footplate.buckets.folders import FolderBuckets
from footplate.control.tasks import Limits, Tasks
from footplate.domain.errors import NotFound, PermissionDenied
from footplate.domain.jobs import Directory, Job, PythonProgram
from footplate.domain.lifecycle import Admitted, react
from footplate.domain.names import attempt_id
from footplate.testing.clock import FakeClock
from footplate.testing.jobs import make_job, make_spec
from footplate.testing.store import MemoryStore

if TYPE_CHECKING:
    from pathlib import Path

MASTER = "master-replica-0"


@pytest.fixture
def buckets(tmp_path: Path) -> FolderBuckets:
    buckets = FolderBuckets(tmp_path / "buckets", FakeClock())
    buckets.create_bucket("stage")
    buckets.write("stage", "pkg/trainer-0.1.tar.gz", [b"bytes"])
    return buckets


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def tasks(store: MemoryStore, buckets: FolderBuckets) -> Tasks:
    return Tasks(store, buckets, catalogue.load(), Limits(1.0, 2.0), lambda: 2222)


@pytest.fixture
def job(store: MemoryStore) -> Job:
    program = PythonProgram(
        "version:/", ("gs://stage/pkg/trainer-0.1.tar.gz",), "trainer.task", ("--x", "a b")
    )
    spec = make_spec(program=program)
    pool = replace(spec.primary, environment=(("OUT", "$(AIP_MODEL_DIR)m"),))
    spec = replace(
        spec,
        pools=(pool,),
        job_dir="gs://stage/out",
        directories=(
            Directory(None, "gs://stage/out"),
            Directory("AIP_MODEL_DIR", "gs://stage/out/model/"),
        ),
    )
    job = make_job(spec=spec)
    store.create(job, ())
    admitted = react(job, Admitted(job.create_time)).job
    store.update(admitted, ())
    return admitted


def test_what_a_replica_is_to_do(tasks: Tasks, job: Job, tmp_path: Path) -> None:
    task = tasks.task(job.attempt_id, MASTER)

    out = str(tmp_path / "buckets" / "stage" / "out")
    assert task.program.args == ("--x", "a b", "--job-dir", out)
    assert task.directories == (out, f"{out}/model/")
    variables = dict(task.environment)
    assert variables["OUT"] == f"{out}/model/m"
    assert variables["CLOUD_ML_JOB_ID"] == "job_1"
    assert json.loads(variables["TF_CONFIG"])["cluster"] == {"master": ["127.0.0.1:2222"]}
    assert task.packages[0].file == "trainer-0.1.tar.gz"
    assert task.runtime.name == "2.21"


def test_no_job_dir_no_argument(tasks: Tasks, store: MemoryStore, job: Job) -> None:
    spec = replace(job.spec, job_dir=None)
    store.update(replace(job, spec=spec, version=job.version + 1), ())

    assert tasks.task(job.attempt_id, MASTER).program.args == ("--x", "a b")


def test_packages_come_by_number(tasks: Tasks, job: Job) -> None:
    with tasks.package(job.attempt_id, MASTER, 0) as file:
        assert file.read() == b"bytes"
    with pytest.raises(NotFound, match="no package number 1"):
        tasks.package(job.attempt_id, MASTER, 1)


def test_an_attempt_that_is_over_gets_nothing(tasks: Tasks, job: Job) -> None:
    with pytest.raises(PermissionDenied, match="is over"):
        tasks.task(attempt_id(job.uid, 2), MASTER)
    with pytest.raises(NotFound, match="no replica"):
        tasks.task(job.attempt_id, "worker-replica-9")
