from __future__ import annotations

import pytest

from footplate.cli.shell.ssh import find_uri
from footplate.client.records import Job, LocatedJob, TrainingJob
from footplate.domain.errors import FailedPrecondition, NotFound
from footplate.domain.names import CustomJobName

CUSTOM = "projects/p/locations/us-central1/customJobs/7"


def custom(state: str, *, access: bool = True, **fields: object) -> Job:
    spec = {"enableWebAccess": True} if access else {}
    return LocatedJob.read(
        CustomJobName,
        {"name": CUSTOM, "state": f"JOB_STATE_{state}", "jobSpec": spec, **fields},  # type: ignore[dict-item]  # JSON by hand
    )


def training(state: str, **output: object) -> Job:
    spec = {"enableWebAccess": True}
    return TrainingJob.read(
        "p",
        {"jobId": "j", "state": state, "trainingInput": spec, "trainingOutput": output},  # type: ignore[dict-item]  # JSON by hand
    )


def test_the_primary_replica_is_the_first() -> None:
    uris = {"workerpool0-0": "http://h/a", "workerpool1-0": "http://h/b"}
    assert find_uri(custom("RUNNING", webAccessUris=uris), "") == "http://h/a"
    assert find_uri(custom("RUNNING", webAccessUris=uris), "worker-0") == "http://h/b"
    with pytest.raises(NotFound, match="workerpool0-0, workerpool1-0"):
        find_uri(custom("RUNNING", webAccessUris=uris), "ps-0")


def test_both_faces_have_addresses() -> None:
    job = training("RUNNING", webAccessUris={"master-replica-0": "http://h/a"})
    assert find_uri(job, "chief") == "http://h/a"


def test_a_tuning_job_names_the_jobs_that_have_shells() -> None:
    spec = {"enableWebAccess": True, "hyperparameters": {"maxTrials": 2}}
    job = TrainingJob.read("p", {"jobId": "j", "state": "RUNNING", "trainingInput": spec})  # type: ignore[dict-item]  # JSON by hand
    with pytest.raises(FailedPrecondition, match=r"tuning job: .* j-1, j-2 and so on"):
        find_uri(job, "")


@pytest.mark.parametrize(
    ("job", "message"),
    [
        (custom("PENDING"), "job 7 is PREPARING; a shell needs a RUNNING job"),
        (custom("SUCCEEDED"), "job 7 is SUCCEEDED"),
        (training("QUEUED"), "job j is QUEUED"),
        (custom("RUNNING"), "no program of the job runs now"),
        (custom("RUNNING", access=False), "enable_web_access=True"),
        (custom("FAILED", access=False), "doesn't set enableWebAccess"),
    ],
)
def test_why_there_is_none_is_said(job: Job, message: str) -> None:
    with pytest.raises(FailedPrecondition, match=message):
        find_uri(job, "")
