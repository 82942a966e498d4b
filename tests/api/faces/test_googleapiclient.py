"""The unmodified google-api-python-client against ml v1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from googleapiclient import discovery
from googleapiclient.errors import HttpError

from footplate.domain.errors import Code
from footplate.domain.job_states import State
from footplate.domain.jobs import Ending
from footplate.domain.names import TrainingJobName
from tests.support.jobs_service import MemoryJobs

if TYPE_CHECKING:
    import httpx

PARENT = "projects/demo"


@pytest.fixture
def projects(url: str, anonymous: Any) -> Iterator[Any]:
    """Any: the client makes its methods at run time, from a discovery document."""
    options = {"api_endpoint": url}
    with discovery.build("ml", "v1", client_options=options, credentials=anonymous) as client:
        yield client.projects()


def body(job_id: str, **more: object) -> dict[str, object]:
    training = {
        "scaleTier": "CUSTOM",
        "masterType": "n1-standard-4",
        "region": "us-central1",
        "runtimeVersion": "2.21",
        "pythonVersion": "3.11",
        "packageUris": ["gs://b/trainer-0.1.tar.gz"],
        "pythonModule": "trainer.task",
        "args": ["--epochs", "3"],
        "jobDir": "gs://b/out",
        "scheduling": {"maxRunningTime": "3600s", "priority": 3},
    }
    return {"jobId": job_id, "trainingInput": training, **more}


def test_create_get_cancel(projects: Any) -> None:
    created = projects.jobs().create(parent=PARENT, body=body("job_1")).execute()
    assert created["state"] == "QUEUED"
    assert created["trainingInput"] == body("job_1")["trainingInput"]
    name = "projects/demo/jobs/job_1"
    assert projects.jobs().get(name=name).execute() == created
    assert projects.jobs().cancel(name=name).execute() == {}
    assert projects.jobs().cancel(name=name, body={}).execute() == {}
    assert projects.jobs().get(name=name).execute()["state"] == "CANCELLED"


def test_an_error_has_its_reason_and_its_fields(projects: Any) -> None:
    given = body("job_1")
    given["trainingInput"] = {"scaleTeir": "BASIC"}
    with pytest.raises(HttpError) as refusal:
        projects.jobs().create(parent=PARENT, body=given).execute()
    assert refusal.value.status_code == 400
    assert "trainingInput.scaleTeir: unknown name" in refusal.value.reason
    violations = refusal.value.error_details[0]["fieldViolations"]
    assert violations[0]["field"] == "trainingInput.scaleTeir"


def test_a_second_create_and_a_missing_job(projects: Any) -> None:
    projects.jobs().create(parent=PARENT, body=body("job_1")).execute()
    with pytest.raises(HttpError) as twice:
        projects.jobs().create(parent=PARENT, body=body("job_1")).execute()
    assert twice.value.status_code == 409
    with pytest.raises(HttpError) as missing:
        projects.jobs().get(name="projects/demo/jobs/nobody").execute()
    assert missing.value.status_code == 404
    assert "projects/demo/jobs/nobody" in missing.value.reason


def test_list_next_goes_through_all_pages(projects: Any) -> None:
    for number in range(5):
        projects.jobs().create(parent=PARENT, body=body(f"job_{number}")).execute()
    seen = []
    request = projects.jobs().list(parent=PARENT, pageSize=2)
    while request is not None:
        answer = request.execute()
        seen += [job["jobId"] for job in answer["jobs"]]
        request = projects.jobs().list_next(request, answer)
    assert seen == [f"job_{number}" for number in (4, 3, 2, 1, 0)]


def test_filters(projects: Any, jobs: MemoryJobs) -> None:
    for name in ("rnn_1", "rnn_2", "cnn_1"):
        projects.jobs().create(parent=PARENT, body=body(name)).execute()
    jobs.end(TrainingJobName("demo", "rnn_1"), Ending(State.FAILED, Code.UNKNOWN, "boom"))
    found = projects.jobs().list(parent=PARENT, filter="jobId:rnn* AND state:FAILED").execute()
    assert [(job["jobId"], job["errorMessage"]) for job in found["jobs"]] == [("rnn_1", "boom")]
    assert projects.jobs().list(parent=PARENT, filter="state=RUNNING").execute() == {}


def test_a_list_with_a_long_filter_is_a_list(projects: Any, jobs: MemoryJobs) -> None:
    """Over 2048 characters the client sends a POST to the URL that creates jobs."""
    projects.jobs().create(parent=PARENT, body=body("job_7")).execute()
    text = " OR ".join(f'jobId="job_{number}{"x" * 20}"' for number in range(80))
    request = projects.jobs().list(parent=PARENT, filter=f"{text} OR jobId=job_7")
    assert len(request.uri) > 2048
    answer = request.execute()
    assert request.method == "POST"
    assert [job["jobId"] for job in answer["jobs"]] == ["job_7"]
    assert len(jobs.submissions) == 1


def test_labels_are_patched_under_an_etag(projects: Any) -> None:
    created = projects.jobs().create(parent=PARENT, body=body("job_1")).execute()
    name = "projects/demo/jobs/job_1"
    change = {"labels": {"team": "a"}, "etag": created["etag"]}
    patch = projects.jobs().patch
    changed = patch(name=name, updateMask="labels,etag", body=change).execute()
    assert changed["labels"] == {"team": "a"}
    with pytest.raises(HttpError) as stale:
        patch(name=name, updateMask="labels,etag", body=change).execute()
    assert stale.value.status_code == 409
    assert patch(name=name, updateMask="labels", body={}).execute()["etag"] != changed["etag"]


def test_the_rest_of_the_surface(projects: Any) -> None:
    assert projects.getConfig(name=PARENT).execute()["serviceAccountProject"] == "0"
    names = [x["name"] for x in projects.locations().list(parent=PARENT).execute()["locations"]]
    assert "projects/demo/locations/us-central1" in names
    one = projects.locations().get(name=names[0]).execute()
    assert one["capabilities"] == [{"type": "TRAINING"}]
    assert projects.operations().list(name=PARENT).execute() == {}
    projects.jobs().create(parent=PARENT, body=body("job_1")).execute()
    policy = projects.jobs().getIamPolicy(resource="projects/demo/jobs/job_1").execute()
    assert policy == {"etag": "ACAB"}


def test_a_developer_key_is_the_token(guarded: httpx.Client, anonymous: Any) -> None:
    base = str(guarded.base_url).rstrip("/")

    def listing(key: str | None) -> Any:
        client = discovery.build(
            "ml",
            "v1",
            credentials=anonymous,
            developerKey=key,
            client_options={"api_endpoint": base},
        )
        with client:
            return client.projects().jobs().list(parent=PARENT).execute()

    assert listing("s3cret") == {}
    with pytest.raises(HttpError) as refusal:
        listing(None)
    assert refusal.value.status_code == 403
    assert "requires a token" in refusal.value.reason
