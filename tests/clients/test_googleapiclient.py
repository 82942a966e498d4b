"""The unmodified google-api-python-client and google-cloud-storage, with jobs that really run."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from googleapiclient.errors import HttpError

from footplate.testing.service import RunningService
from tests.support.trainers import Trainers

if TYPE_CHECKING:
    from google.cloud import storage

PARENT = "projects/demo"
ECHO = """
import json, os, sys
with open(os.path.join(sys.argv[-1].replace("gs://", "/gcs/"), "seen.json"), "w") as file:
    json.dump([sys.argv[1:], os.environ["CLOUD_ML_JOB_ID"], sys.version_info[:2]], file)
"""
LONG = "import time; print('up', flush=True); time.sleep(3600)"


def body(job_id: str, package: str, **more: object) -> dict[str, Any]:
    training = {
        "region": "us-central1",
        "runtimeVersion": "2.21",
        "pythonVersion": "3.11",
        "packageUris": [package],
        "pythonModule": "trainer.task",
        **more,
    }
    return {"jobId": job_id, "trainingInput": training}


def submit(ml: Any, job_id: str, package: str, **more: object) -> dict[str, Any]:
    request = ml.jobs().create(parent=PARENT, body=body(job_id, package, **more))
    made: dict[str, Any] = request.execute()
    return made


def test_a_package_runs_with_its_arguments(
    ml: Any,
    finish: Callable[..., dict[str, Any]],
    trainers: Trainers,
    bucket: storage.Bucket,
) -> None:
    args = ["--words", "a  b", "$(HOME) *", ""]
    job_dir = f"gs://{bucket.name}/out"
    created = submit(ml, "echo_1", trainers.make(ECHO), args=args, jobDir=job_dir)
    assert created["state"] == "QUEUED"
    job = finish("echo_1")
    assert job["state"] == "SUCCEEDED", job
    assert job["createTime"] <= job["startTime"] <= job["endTime"]
    assert job["trainingInput"] == created["trainingInput"]
    seen, job_id, version = json.loads(bucket.blob("out/seen.json").download_as_bytes())
    assert seen[:5] == [*args, "--job-dir"]
    assert (job_id, version) == ("echo_1", [3, 11])


def test_list_cancel_and_labels(
    ml: Any, finish: Callable[..., dict[str, Any]], trainers: Trainers
) -> None:
    package = trainers.make(LONG)
    names = [f"rnn_{number}" for number in range(3)]
    for name in names:
        submit(ml, name, package)
    assert finish("rnn_2", "RUNNING")["state"] == "RUNNING"

    found = []
    request = ml.jobs().list(parent=PARENT, filter="jobId:rnn* AND state:RUNNING", pageSize=1)
    assert "rnn_2" in {job["jobId"] for job in request.execute()["jobs"]}
    request = ml.jobs().list(parent=PARENT, filter="jobId:rnn*", pageSize=2)
    while request is not None:
        answer = request.execute()
        assert len(answer["jobs"]) <= 2
        found += [job["jobId"] for job in answer["jobs"]]
        request = ml.jobs().list_next(request, answer)
    assert found == names[::-1]

    full = f"{PARENT}/jobs/rnn_0"
    change = {"labels": {"team": "a"}}
    changed = ml.jobs().patch(name=full, updateMask="labels", body=change).execute()
    assert changed["labels"] == {"team": "a"}
    for name in names:
        assert ml.jobs().cancel(name=f"{PARENT}/jobs/{name}").execute() == {}
    ended = [finish(name) for name in names]
    assert {job["state"] for job in ended} == {"CANCELLED"}
    assert ended[0]["labels"] == {"team": "a"}
    assert ml.jobs().cancel(name=full).execute() == {}
    assert ml.jobs().get(name=full).execute() == ended[0]


def test_a_second_job_of_the_same_id_changes_nothing(
    ml: Any, finish: Callable[..., dict[str, Any]], trainers: Trainers
) -> None:
    submit(ml, "twice", trainers.make("print('the first')"))
    first = finish("twice")
    with pytest.raises(HttpError) as refusal:
        submit(ml, "twice", trainers.make("raise SystemExit(1)"), args=["--other"])
    assert refusal.value.status_code == 409
    assert "twice" in refusal.value.reason
    assert ml.jobs().get(name=f"{PARENT}/jobs/twice").execute() == first
    listed = ml.jobs().list(parent=PARENT, filter="jobId=twice").execute()["jobs"]
    assert listed == [first]


HYPERTUNE = """
import os, shutil, sys
import hypertune
reporter = hypertune.HyperTune()
for step in range(3):
    reporter.report_hyperparameter_tuning_metric("accuracy", step / 10, step)
file = os.environ["CLOUD_ML_HP_METRIC_FILE"]
with open(os.path.join(sys.argv[-1].replace("gs://", "/gcs/"), "where"), "w") as where:
    where.write(file)
shutil.copy(file, sys.argv[-1].replace("gs://", "/gcs/"))
"""


def test_hypertune_in_a_plain_job(
    ml: Any,
    finish: Callable[..., dict[str, Any]],
    trainers: Trainers,
    bucket: storage.Bucket,
    service: RunningService,
) -> None:
    """Its file lies in the replica's own place, where no other replica writes."""
    submit(ml, "tuned", trainers.make(HYPERTUNE), jobDir=f"gs://{bucket.name}/out")
    job = finish("tuned")
    assert job["state"] == "SUCCEEDED", job
    records = bucket.blob("out/output.metrics").download_as_text().splitlines()
    reported = [(record["accuracy"], record["global_step"]) for record in map(json.loads, records)]
    assert reported == [("0.0", "0"), ("0.1", "1"), ("0.2", "2")]
    where = Path(bucket.blob("out/where").download_as_text())
    assert where.is_relative_to(service.data_dir / "replicas")


def test_large_objects_go_up_in_parts_and_come_back(
    bucket: storage.Bucket, service: RunningService, tmp_path: Path
) -> None:
    """Above 8 MiB the client uploads resumably; programs see the object as a file."""
    content = os.urandom(9 << 20)
    here = tmp_path / "big"
    here.write_bytes(content)
    blob = bucket.blob("data/big.bin")
    blob.upload_from_filename(str(here))
    bucket.blob("data/small.txt").upload_from_string("small")
    assert [found.name for found in bucket.list_blobs(prefix="data/")] == [
        "data/big.bin",
        "data/small.txt",
    ]
    assert bucket.blob("data/big.bin").download_as_bytes() == content
    file = service.data_dir / "buckets" / bucket.name / "data" / "big.bin"
    assert file.read_bytes() == content
    blob.delete()
    assert not file.exists()


@pytest.mark.parametrize(
    ("document", "method"),
    [
        ("ml/v1", "ml.projects.jobs.create"),
        ("aiplatform/v1", "aiplatform.projects.locations.tensorboards.experiments.runs.write"),
        ("aiplatform/v1", "aiplatform.projects.locations.models.upload"),
        ("aiplatform/v1beta1", "aiplatform.projects.locations.persistentResources.reboot"),
        ("aiplatform/v1beta1", "aiplatform.projects.locations.studies.trials.suggest"),
        ("storage/v1", "storage.objects.rewrite"),
        ("logging/v2", "logging.entries.list"),
    ],
)
def test_the_service_describes_its_methods(
    service: RunningService, document: str, method: str
) -> None:
    found = httpx.get(f"{service.url}/discovery/v1/apis/{document}/rest")
    assert f'"id":"{method}"' in found.text
