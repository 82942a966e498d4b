"""aiplatform v1 over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from footplate.domain.admission import Explanation
from footplate.domain.job_states import State
from footplate.domain.jobs import Ending
from footplate.domain.names import parse_job_name
from footplate.domain.submission import Tuning
from tests.support.jobs_service import MemoryJobs

if TYPE_CHECKING:
    import httpx

P = "projects/demo/locations/us-central1"
JOBS = f"/v1/{P}/customJobs"


def body(display_name: str = "a job", **more: object) -> dict[str, object]:
    package = {
        "executorImageUri": "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6.py311:latest",
        "packageUris": ["gs://b/trainer-0.1.tar.gz"],
        "pythonModule": "trainer.task",
    }
    pool = {
        "machineSpec": {"machineType": "n1-standard-4"},
        "replicaCount": "1",
        "pythonPackageSpec": package,
    }
    return {"displayName": display_name, "jobSpec": {"workerPoolSpecs": [pool]}, **more}


def test_a_waiting_job_says_why(http: httpx.Client, jobs: MemoryJobs) -> None:
    name = http.post(JOBS, json=body()).json()["name"]
    jobs.waiting = Explanation(1, "Waits for room", "Waits for room: 7 holds all of it.")

    job = http.get(f"/v1/{name}").json()
    assert job["pendingExplanation"] == "Waits for room: 7 holds all of it."
    assert http.get(JOBS).json()["customJobs"] == [job]


def test_a_project_of_a_domain(http: httpx.Client) -> None:
    jobs = "/v1/projects/example.com:ml/locations/us-central1/customJobs"
    created = http.post(jobs, json=body()).json()
    assert created["name"].startswith("projects/example.com:ml/")
    assert http.get(f"/v1/{created['name']}").json() == created
    assert http.get(jobs).json()["customJobs"] == [created]
    assert http.get("/v1/projects/example.com:ml/locations/us-central1").status_code == 200
    assert http.post(f"/v1/{created['name']}:cancel").json() == {}


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_create_get_cancel_delete(http: httpx.Client, version: str) -> None:
    created = http.post(f"/{version}/{P}/customJobs", json=body(labels={"a": "b"})).json()
    name = created["name"]
    assert name.startswith(f"{P}/customJobs/")
    assert name.rpartition("/")[2].isdigit()
    assert created["state"] == "JOB_STATE_QUEUED"
    found = http.get(f"/v1/{name}").json()
    assert found == created
    running = http.delete(f"/{version}/{name}")
    assert running.json()["error"]["status"] == "FAILED_PRECONDITION"
    assert http.post(f"/{version}/{name}:cancel").json() == {}
    cancelled = http.get(f"/{version}/{name}").json()
    assert cancelled["state"] == "JOB_STATE_CANCELLED"
    assert cancelled["error"] == {
        "code": 1,
        "message": "cancelled by request of python-httpx at 127.0.0.1",
    }
    operation = http.delete(f"/{version}/{name}").json()
    assert operation["done"] is True
    assert http.get(f"/{version}/{name}").status_code == 404
    for prefix in ("ui", "v1", "v1beta1"):
        assert http.get(f"/{prefix}/{operation['name']}").json() == operation
        assert http.post(f"/{prefix}/{operation['name']}:wait", json={}).json() == operation


def test_an_operation_that_never_was_isnt_there(http: httpx.Client) -> None:
    name = http.post(JOBS, json=body()).json()["name"]
    job_id = name.rpartition("/")[2]
    for made_up in ("1", "delete-v2-customJobs-1-1", f"delete-v1-customJobs-{job_id}-17"):
        assert http.get(f"/v1/{P}/operations/{made_up}").status_code == 404
    assert http.get(f"/ui/{P}/operations").json() == {}
    assert http.get(f"/v1/{name}/operations").json() == {}


def test_a_done_operation_can_be_left(http: httpx.Client, jobs: MemoryJobs) -> None:
    name = http.post(JOBS, json=body()).json()["name"]
    jobs.end(parse_job_name(name), Ending(State.SUCCEEDED))
    operation = http.delete(f"/v1/{name}").json()["name"]
    assert http.post(f"/ui/{operation}:cancel", json={}).json() == {}
    for verb in ("cancel", "wait"):
        assert http.post(f"/v1/{operation}:{verb}", json={"force": True}).status_code == 400
    assert http.delete(f"/ui/{operation}").json() == {}


def test_unknown_fields_are_kept_and_warned_of(http: httpx.Client, jobs: MemoryJobs) -> None:
    created = http.post(JOBS, json=body(newField={"x": [1]}))
    assert created.json()["newField"] == {"x": [1]}
    assert jobs.submissions[0].warnings[0].startswith("newField is stored, but has no effect")


def test_bad_input_makes_nothing(http: httpx.Client, jobs: MemoryJobs) -> None:
    response = http.post(JOBS, json={})
    assert response.status_code == 400
    detail = response.json()["error"]["details"][0]
    assert [v["field"] for v in detail["fieldViolations"]] == ["displayName", "jobSpec"]
    assert jobs.submissions == []


def test_list(http: httpx.Client, jobs: MemoryJobs) -> None:
    assert http.get(JOBS).json() == {}
    names = [http.post(JOBS, json=body(f"job {n}")).json()["name"] for n in range(3)]
    jobs.end(parse_job_name(names[1]), Ending(State.SUCCEEDED))
    params = {"$alt": "json;enum-encoding=int", "alt": "json"}
    listed = http.get(JOBS, params=params).json()["customJobs"]
    assert [job["name"] for job in listed] == names[::-1]
    params = {"readMask": "name,job_spec.worker_pool_specs", "pageSize": "2"}
    masked = http.get(JOBS, params=params).json()
    assert [sorted(job) for job in masked["customJobs"]] == [["jobSpec", "name"]] * 2
    assert [[*job["jobSpec"]] for job in masked["customJobs"]] == [["workerPoolSpecs"]] * 2
    params = {"fields": "customJobs/name"}
    assert http.get(JOBS, params=params).json() == {
        "customJobs": [{"name": name} for name in names[::-1]]
    }
    for wrong in ({"orderby": "name"}, {"alt": "proto"}, {"fields": "a("}, {"readMask": "a("}):
        refused = http.get(JOBS, params=wrong)
        assert refused.status_code == 400
        assert f"{next(iter(wrong))}: " in refused.text
    succeeded = http.get(JOBS, params={"filter": 'state="JOB_STATE_SUCCEEDED"'}).json()
    assert [job["name"] for job in succeeded["customJobs"]] == [names[1]]
    page = http.get(JOBS, params={"pageSize": "2", "filter": "display_name:job*"}).json()
    params = {"pageToken": page["nextPageToken"], "filter": "display_name:job*"}
    assert [j["name"] for j in http.get(JOBS, params=params).json()["customJobs"]] == names[:1]
    by_name = http.get(JOBS, params={"orderBy": "displayName"}).json()["customJobs"]
    assert [job["displayName"] for job in by_name] == ["job 0", "job 1", "job 2"]
    assert http.get(JOBS, params={"orderBy": "display"}).status_code == 400
    other = http.get("/v1/projects/demo/locations/us-east1/customJobs")
    assert other.json() == {}


def tuning_body(**more: object) -> dict[str, object]:
    parameter = {"parameterId": "lr", "doubleValueSpec": {"minValue": 0.1, "maxValue": 1}}
    return {
        "displayName": "a search",
        "maxTrialCount": 10,
        "parallelTrialCount": 1,
        "studySpec": {"metrics": [{"metricId": "loss"}], "parameters": [parameter]},
        "trialJobSpec": body()["jobSpec"],
        **more,
    }


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_tuning_jobs_are_checked_in_full(
    http: httpx.Client, jobs: MemoryJobs, version: str
) -> None:
    url = f"/{version}/{P}/hyperparameterTuningJobs"
    wrong = http.post(url, json=tuning_body(displayName="", studySpec={"metrics": [{}]}))
    assert wrong.status_code == 400
    (detail,) = wrong.json()["error"]["details"]
    assert [v["field"] for v in detail["fieldViolations"]] == [
        "displayName",
        "studySpec.metrics[0].metricId",
        "studySpec.parameters",
    ]
    assert jobs.submissions == []
    assert http.post(url, json=tuning_body()).status_code == 200
    assert jobs.submissions[0].tuning == Tuning(parameters=1, max_trials=10)


def test_locations_that_are_parsed_strictly_have_no_more_than_they_may(http: httpx.Client) -> None:
    assert http.get(f"/ui/{P}").json() == {"name": P, "locationId": "us-central1"}


def test_a_region_that_isnt_in_the_catalogue_is_refused(http: httpx.Client) -> None:
    response = http.post("/v1/projects/demo/locations/us-centrall/customJobs", json=body())
    assert response.status_code == 400
    (violation,) = response.json()["error"]["details"][0]["fieldViolations"]
    assert violation["field"] == "parent"
    assert "us-central1" in violation["description"]


@pytest.mark.parametrize("kind", ["customJobs", "hyperparameterTuningJobs", "trainingPipelines"])
def test_a_list_in_an_unknown_region_is_refused_by_name(http: httpx.Client, kind: str) -> None:
    response = http.get(f"/v1/projects/demo/locations/us-centrall1/{kind}")
    assert response.status_code == 400
    said = "parent: unknown region 'us-centrall1'; did you mean us-central1"
    assert response.json()["error"]["message"].startswith(said)
    assert http.get(f"/v1/projects/demo/locations/us-east1/{kind}").json() == {}


@pytest.mark.parametrize("state", ["SUCCEEDED", "succeeded", "JOB_STATE_SUCCEEDED"])
def test_states_may_be_spelled_as_on_screen(http: httpx.Client, state: str) -> None:
    http.post(JOBS, json=body())
    assert http.get(JOBS, params={"filter": f"state!={state}"}).json()["customJobs"]
    assert http.get(JOBS, params={"filter": f"state={state}"}).json() == {}
    assert http.get(JOBS, params={"filter": "state=PREPARING"}).json() == {}


def test_a_location_that_cant_be_is_refused(http: httpx.Client) -> None:
    response = http.post("/v1/projects/demo/locations/Middle%20Earth/customJobs", json=body())
    assert response.status_code == 400
    assert response.json()["error"]["message"].startswith("location: ")
