"""What is wrong with a job, told to unmodified clients: in one sentence, nothing half-made."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from googleapiclient.errors import HttpError

from footplate.testing.service import RunningService
from tests.support.trainers import Trainers
from tests.support.trees import paths_below

if TYPE_CHECKING:
    from google.cloud import storage

PARENT = "projects/demo"


def submit(ml: Any, job_id: str, package: str, **more: object) -> None:
    training = {
        "region": "us-central1",
        "runtimeVersion": "2.21",
        "pythonVersion": "3.11",
        "packageUris": [package],
        "pythonModule": "trainer.task",
        **more,
    }
    body = {"jobId": job_id, "trainingInput": training}
    ml.jobs().create(parent=PARENT, body=body).execute()


def refuse(ml: Any, job_id: str, package: str, **more: object) -> str:
    """What the client is told of a job that isn't accepted, and that isn't there then."""
    with pytest.raises(HttpError) as refusal:
        submit(ml, job_id, package, **more)
    assert refusal.value.status_code == 400
    listed = ml.jobs().list(parent=PARENT, filter=f"jobId={job_id}").execute()
    assert listed == {}
    reason: str = refusal.value.reason
    return reason


# Refused at submit -----------------------------------------------------------------------------


@pytest.fixture
def package(trainers: Trainers) -> str:
    return trainers.make_archive("trainer-1.tar.gz", {"trainer-1/setup.py": ""})


def test_an_unknown_field(ml: Any, package: str) -> None:
    told = refuse(ml, "bad_field", package, workerCuont="3")
    assert "trainingInput.workerCuont: unknown name" in told


def test_a_job_dir_in_a_bucket_that_is_not_there(ml: Any, package: str) -> None:
    told = refuse(ml, "bad_dir", package, jobDir="gs://no-such-bucket/out")
    assert "trainingInput.jobDir" in told
    assert "no-such-bucket" in told


def test_a_package_that_is_not_there(ml: Any, bucket: storage.Bucket) -> None:
    told = refuse(ml, "bad_package", f"gs://{bucket.name}/trainer-9.tar.gz")
    assert "trainingInput.packageUris[0]" in told
    assert "trainer-9.tar.gz" in told


def test_a_job_id_of_other_characters(ml: Any, package: str) -> None:
    with pytest.raises(HttpError) as refusal:
        submit(ml, "1-bad", package)
    assert refusal.value.status_code == 400
    assert "jobId" in refusal.value.reason


def test_a_runtime_that_there_is_not(ml: Any, package: str) -> None:
    assert "2.21" in refuse(ml, "bad_runtime", package, runtimeVersion="2.99")


# Failed, since it takes the packages to see ----------------------------------------------------


def cause(ml: Any, finish: Callable[..., dict[str, Any]], job_id: str, package: str) -> str:
    submit(ml, job_id, package)
    job = finish(job_id)
    assert job["state"] == "FAILED"
    told: str = job["errorMessage"]
    return told


def test_an_archive_that_leads_elsewhere(
    ml: Any, finish: Callable[..., dict[str, Any]], trainers: Trainers, service: RunningService
) -> None:
    members = {
        "trainer-1/setup.py": "from setuptools import setup; setup(name='trainer')",
        "trainer-1/../../../evil.py": "print('out')",
    }
    told = cause(ml, finish, "hostile", trainers.make_archive("trainer-1.tar.gz", members))
    assert "trainer-1.tar.gz" in told
    assert "trainer-1/../../../evil.py" in told
    assert not [path for path in paths_below(service.data_dir) if path.name == "evil.py"]


def test_a_file_that_is_no_archive(
    ml: Any, finish: Callable[..., dict[str, Any]], bucket: storage.Bucket
) -> None:
    bucket.blob("trainer-1.tar.gz").upload_from_string("no archive at all")
    told = cause(ml, finish, "no_archive", f"gs://{bucket.name}/trainer-1.tar.gz")
    assert "trainer-1.tar.gz" in told


def test_a_package_that_does_not_build(
    ml: Any, finish: Callable[..., dict[str, Any]], trainers: Trainers
) -> None:
    setup = "raise RuntimeError('there is no compiler')"
    package = trainers.make_archive("trainer-1.tar.gz", {"trainer-1/setup.py": setup})
    told = cause(ml, finish, "unbuildable", package)
    assert told.startswith(
        "replica master-replica-0 could not be prepared: the build of trainer-1.tar.gz "
    )
    assert told.endswith(": RuntimeError: there is no compiler")


def test_a_requirement_that_there_is_not(
    ml: Any, finish: Callable[..., dict[str, Any]], trainers: Trainers
) -> None:
    package = trainers.make("", requires=("numpy==0.0.999",))
    told = cause(ml, finish, "no_requirement", package)
    assert "numpy==0.0.999" in told


def test_a_module_that_is_not_in_the_package(
    ml: Any, finish: Callable[..., dict[str, Any]], trainers: Trainers
) -> None:

    def told(job_id: str) -> str:
        job = finish(job_id)
        assert job["state"] == "FAILED"
        message: str = job["errorMessage"]
        return message.removeprefix("replica master-replica-0 exited with code 1: ")

    submit(ml, "no_module", trainers.make(""), pythonModule="trainer.tusk")
    submit(ml, "no_package", trainers.make("#"), pythonModule="tusk.task")
    submit(ml, "no_import", trainers.make("import tusk"))
    assert told("no_module").startswith("No module named trainer.tusk. Your package trainer has ")
    assert "(ModuleNotFoundError: No module named 'tusk')" in told("no_package")
    no_import = told("no_import")
    said = "ModuleNotFoundError: No module named 'tusk' (at task.py:1 in <module>). Runtime "
    assert no_import.startswith(said)
    assert "install_requires=['tusk']" in no_import
