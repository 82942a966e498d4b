"""ml v1 over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from footplate.domain.admission import Explanation
from footplate.domain.errors import Code
from footplate.domain.job_states import State
from footplate.domain.jobs import Ending
from footplate.domain.names import TrainingJobName
from tests.support.jobs_service import MemoryJobs

if TYPE_CHECKING:
    import httpx

JOBS = "/v1/projects/demo/jobs"


TRAINING = {
    "region": "us-central1",
    "runtimeVersion": "2.21",
    "packageUris": ["gs://b/trainer-0.1.tar.gz"],
    "pythonModule": "trainer.task",
}


def body(job_id: str = "job_1", **more: object) -> dict[str, object]:
    return {"jobId": job_id, "trainingInput": TRAINING, **more}


def fields(response: httpx.Response) -> list[str]:
    """The fields that an error names."""
    assert response.status_code == 400, response.text
    detail = response.json()["error"]["details"][0]
    return [violation["field"] for violation in detail["fieldViolations"]]


def test_create_get_cancel(http: httpx.Client) -> None:
    created = http.post(JOBS, json=body(labels={"a": "b"})).json()
    assert created["state"] == "QUEUED"
    assert created["trainingInput"]["pythonModule"] == "trainer.task"
    assert http.get(f"{JOBS}/job_1").json() == created
    assert http.post(f"{JOBS}/job_1:cancel").json() == {}
    cancelled = http.get(f"{JOBS}/job_1").json()
    assert (cancelled["state"], cancelled["errorMessage"]) == (
        "CANCELLED",
        "cancelled by request of python-httpx at 127.0.0.1",
    )
    assert http.post(f"{JOBS}/job_1:cancel", json={}).json() == {}


def test_a_project_of_a_domain(http: httpx.Client) -> None:
    jobs = "/v1/projects/example.com:ml/jobs"
    created = http.post(jobs, json=body()).json()
    assert http.get(f"{jobs}/job_1").json() == created
    assert http.get("/v1/projects/example.com:ml:getConfig").status_code == 200
    assert http.post(f"{jobs}/job_1:cancel").json() == {}


def test_a_waiting_job_says_why_and_its_place(http: httpx.Client, jobs: MemoryJobs) -> None:
    http.post(JOBS, json=body())
    jobs.waiting = Explanation(3, "Waits for room", "Waits for room: job_0 holds all of it.")

    job = http.get(f"{JOBS}/job_1").json()
    assert job["pendingExplanation"] == "Waits for room: job_0 holds all of it."
    assert job["jobPosition"] == "3"
    assert http.get(JOBS).json()["jobs"] == [job]


def test_a_second_job_of_the_same_name_changes_nothing(http: httpx.Client) -> None:
    first = http.post(JOBS, json=body()).json()
    second = http.post(JOBS, json=body(labels={"a": "b"}))
    assert (second.status_code, second.json()["error"]["status"]) == (409, "ALREADY_EXISTS")
    assert http.get(f"{JOBS}/job_1").json() == first


def test_bad_input_makes_nothing(http: httpx.Client, jobs: MemoryJobs) -> None:
    assert fields(http.post(JOBS, json={})) == ["jobId", "trainingInput"]
    assert fields(http.post(JOBS)) == ["jobId", "trainingInput"]
    assert fields(http.post(JOBS, json=body(jobName="x"))) == ["jobName"]
    assert jobs.submissions == []
    assert http.get(JOBS).json() == {}


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", ""), ("POST", ":cancel"), ("GET", ":getIamPolicy"), ("PATCH", "?updateMask=labels")],
)
def test_a_job_that_isnt_there_is_404(http: httpx.Client, method: str, path: str) -> None:
    response = http.request(method, f"{JOBS}/nobody{path}")
    assert (response.status_code, response.json()["error"]["status"]) == (404, "NOT_FOUND")
    assert "projects/demo/jobs/nobody" in response.json()["error"]["message"]


def test_pages(http: httpx.Client) -> None:
    for number in range(25):
        http.post(JOBS, json=body(f"job_{number}"))
    first = http.get(JOBS).json()
    assert [job["jobId"] for job in first["jobs"]] == [f"job_{n}" for n in range(24, 4, -1)]
    second = http.get(JOBS, params={"pageToken": first["nextPageToken"]}).json()
    assert [job["jobId"] for job in second["jobs"]] == [f"job_{n}" for n in range(4, -1, -1)]
    assert "nextPageToken" not in second
    assert len(http.get(JOBS, params={"pageSize": "1000"}).json()["jobs"]) == 25
    assert len(http.get(JOBS, params={"page_size": "3"}).json()["jobs"]) == 3


def test_a_page_token_belongs_to_its_list_and_filter(http: httpx.Client) -> None:
    for number in range(2):
        http.post(JOBS, json=body(f"job_{number}"))
    token = http.get(JOBS, params={"pageSize": "1"}).json()["nextPageToken"]
    for params in ({"pageToken": "x"}, {"pageToken": token, "filter": "state=QUEUED"}):
        assert fields(http.get(JOBS, params=params)) == ["pageToken"]
    other = http.get("/v1/projects/other/jobs", params={"pageToken": token})
    assert fields(other) == ["pageToken"]
    assert fields(http.get(JOBS, params={"pageSize": "-1"})) == ["pageSize"]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("jobId", ["a_10", "a_2", "B_1", "c_1"]),
        ("job_id desc", ["c_1", "B_1", "a_2", "a_10"]),
        ("createTime", ["c_1", "a_2", "B_1", "a_10"]),
        ("state, createTime  DESC", ["a_10", "B_1", "a_2", "c_1"]),
        ("", ["a_10", "B_1", "a_2", "c_1"]),
    ],
)
def test_orders(http: httpx.Client, order: str, expected: list[str]) -> None:
    for name in ("c_1", "a_2", "B_1", "a_10"):
        http.post(JOBS, json=body(name))
    first = http.get(JOBS, params={"orderBy": order, "pageSize": "3"}).json()
    params = {"order_by": order, "pageToken": first["nextPageToken"]}
    second = http.get(JOBS, params=params).json()
    assert [job["jobId"] for job in (*first["jobs"], *second["jobs"])] == expected
    other = {"pageToken": first["nextPageToken"], "orderBy": "endTime"}
    assert fields(http.get(JOBS, params=other)) == ["pageToken"]


@pytest.mark.parametrize(
    "order", ["size", "jobId up", "jobId,,state", "labels.team", "-jobId", ","]
)
def test_an_order_by_what_is_no_field_is_refused(http: httpx.Client, order: str) -> None:
    answer = http.get(JOBS, params={"orderBy": order})
    assert fields(answer) == ["orderBy"]
    allowed = "allowed: FIELD, or FIELD desc, of jobId, state, createTime, startTime, endTime"
    assert allowed in answer.json()["error"]["message"]


def test_filters(http: httpx.Client, jobs: MemoryJobs) -> None:
    http.post(JOBS, json=body("rnn_1", labels={"team": "a"}))
    http.post(JOBS, json=body("rnn_2", labels={"team": "b"}))
    http.post(JOBS, json=body("cnn_1"))
    jobs.end(TrainingJobName("demo", "rnn_2"), Ending(State.FAILED, Code.UNKNOWN, "x"))

    def found(text: str) -> set[str]:
        answer = http.get(JOBS, params={"filter": text}).json()
        return {job["jobId"] for job in answer.get("jobs", [])}

    assert found("jobId:rnn*") == {"rnn_1", "rnn_2"}
    assert found("jobId:rnn* AND state:FAILED") == {"rnn_2"}
    assert found("state=QUEUED NOT labels.team:*") == {"cnn_1"}
    assert found("labels.team=a OR labels.team=b") == {"rnn_1", "rnn_2"}
    assert found("createTime<2020-01-01T00:00:00Z") == set()
    assert fields(http.get(JOBS, params={"filter": "state=="})) == ["filter"]


def test_labels_change_under_an_etag(http: httpx.Client) -> None:
    job = http.post(JOBS, json=body(labels={"a": "b"})).json()
    path = f"{JOBS}/job_1"
    change = {"labels": {"c": "d"}, "etag": job["etag"]}
    changed = http.patch(path, params={"updateMask": "labels,etag"}, json=change).json()
    assert changed["labels"] == {"c": "d"}
    assert changed["etag"] != job["etag"]
    stale = http.patch(path, params={"updateMask": "labels,etag"}, json=change)
    assert (stale.status_code, stale.json()["error"]["status"]) == (409, "ABORTED")
    forced = http.patch(path, params={"updateMask": "labels"}, json={"etag": job["etag"]})
    assert "labels" not in forced.json()
    assert fields(http.patch(path, params={"updateMask": "state"}, json={})) == ["updateMask"]
    assert fields(http.patch(path, json={"labels": {}})) == ["updateMask"]


def test_the_project_and_its_operations(http: httpx.Client) -> None:
    config = http.get("/v1/projects/demo:getConfig").json()
    assert set(config) == {"serviceAccount", "serviceAccountProject", "config"}
    assert http.get("/v1/projects/demo/operations").json() == {}
    assert http.get("/v1/projects/demo/operations/1").status_code == 404
    assert http.post("/v1/projects/demo/operations/1:cancel", json={}).status_code == 404


def test_there_are_no_policies(http: httpx.Client) -> None:
    http.post(JOBS, json=body())
    assert http.get(f"{JOBS}/job_1:getIamPolicy").json() == {"etag": "ACAB"}
    refused = http.post(f"{JOBS}/job_1:setIamPolicy", json={"policy": {}})
    assert refused.status_code == 400
    assert "has no IAM policies" in refused.json()["error"]["message"]
    asked = {"permissions": ["ml.jobs.get"]}
    assert http.post(f"{JOBS}/job_1:testIamPermissions", json=asked).json() == asked


def test_locations_suit_both_faces(http: httpx.Client) -> None:
    locations = http.get("/v1/projects/demo/locations").json()["locations"]
    one = http.get("/v1/projects/demo/locations/us-central1").json()
    assert one in locations
    assert (one["name"], one["locationId"]) == (
        "projects/demo/locations/us-central1",
        "us-central1",
    )
    [capability] = one["capabilities"]
    assert capability["type"] == "TRAINING"
    assert "NVIDIA_TESLA_T4" in capability["availableAccelerators"]
    assert http.get("/v1/projects/demo/locations/middle-earth").status_code == 404
