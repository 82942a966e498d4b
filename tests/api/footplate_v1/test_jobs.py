"""Jobs of all kinds together, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx
import pytest

from footplate.api.app import create_app
from footplate.api.footplate_v1.jobs import jobs_routes
from footplate.api.security import Access
from footplate.control.costs import Costs
from footplate.control.job_lists import JobLists
from footplate.domain.errors import Code
from footplate.domain.job_states import Phase, State
from footplate.domain.jobs import Address, Ending, Exit, ExitKind, MachineSpec, Replica
from footplate.domain.machine_hours import Prices
from footplate.domain.names import parse_job_name
from footplate.domain.pipelines import Pipeline
from tests.support.catalogue import built_in
from tests.support.clock import FakeClock
from tests.support.http_server import serve
from tests.support.jobs import CREATED, make_job, make_spec
from tests.support.jobs_service import MemoryJobs
from tests.support.store import MemoryStore

OLD = "projects/demo/jobs/old_model"
CUSTOM = "projects/demo/locations/europe-west4/customJobs/7"
OTHER = "projects/other/locations/us-central1/trainingPipelines/8"


@pytest.fixture
def store() -> MemoryStore:
    store = MemoryStore()
    gpus = MachineSpec("a2-highgpu-1g", "NVIDIA_TESLA_A100", 1)
    for at, name in enumerate((OLD, CUSTOM, OTHER)):
        spec = make_spec(region="europe-west4" if name != OTHER else "us-central1", machine=gpus)
        job = make_job(
            name,
            spec=spec,
            created=CREATED + timedelta(hours=at),
            display_name=f"Model {at}",
            labels=(("team", "ads"),) if at else (),
            request='{"displayName": "Model"}',
        )
        store.create(job, ())
    failed = Replica(
        "workerpool0-0",
        Phase.GONE,
        Exit(ExitKind.EXITED, 1, "ValueError: x", "Mend it."),
        devices=("0",),
        address=Address("10.0.0.1", 2222),
        losses=2,
    )
    job = store.get_by_uid(
        store.list(
            "projects/demo/locations/europe-west4/customJobs", where=None, limit=1, after=None
        )
        .jobs[0]
        .uid
    )
    ended = replace(
        job,
        state=State.FAILED,
        start_time=CREATED,
        end_time=CREATED + timedelta(seconds=5),
        replicas=(failed,),
        ending=Ending(State.FAILED, Code.INTERNAL, "It failed."),
        version=2,
    )
    store.update(ended, ())
    return store


@pytest.fixture
def http(store: MemoryStore) -> Iterator[httpx.Client]:
    prices = Prices("EUR", {"a2-highgpu-1g": 1.5}, {"NVIDIA_TESLA_A100": 2.0})
    costs = Costs(store, built_in(), prices, FakeClock())
    jobs = MemoryJobs(store)
    routes = jobs_routes(JobLists(store), jobs, costs, lambda: 5, ("europe-west4", "us-east1"))
    with serve(create_app(routes, Access())) as url, httpx.Client(base_url=url) as client:
        yield client


def names(answer: httpx.Response) -> list[str]:
    found: list[dict[str, Any]] = answer.json()["jobs"]
    return [job["name"] for job in found]


def test_all_jobs_are_one_list_newest_first(http: httpx.Client) -> None:
    assert names(http.get("/footplate/v1/jobs")) == [OTHER, CUSTOM, OLD]
    collections = http.get("/footplate/v1/collections").json()["collections"]
    assert collections == [name.rpartition("/")[0] for name in sorted((OLD, CUSTOM, OTHER))]
    assert http.get("/footplate/v1/changes").json() == {"changes": 5}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"project": "demo"}, [CUSTOM, OLD]),
        ({"region": "europe-west4"}, [CUSTOM, OLD]),
        ({"region": "us-central1"}, [OTHER]),
        ({"region": "us-central1", "filter": "state=QUEUED"}, [OTHER]),
        ({"region": "europe-west4", "filter": "state=QUEUED"}, [OLD]),
        ({"filter": "region=us-central1"}, [OTHER]),
        ({"filter": "region!=us-central1"}, [CUSTOM, OLD]),
        ({"kind": "jobs"}, [OLD]),
        ({"kind": "customJobs", "project": "other"}, []),
        ({"filter": 'displayName:"model 2" OR jobId:OLD'}, [OTHER, OLD]),
        ({"filter": "state=FAILED"}, [CUSTOM]),
        ({"filter": "state=JOB_STATE_FAILED OR state=pipeline_state_pending"}, [CUSTOM]),
        ({"filter": 'labels."team"=ads AND state=QUEUED'}, [OTHER]),
        ({"orderBy": "createTime"}, [OLD, CUSTOM, OTHER]),
        ({"orderBy": "state desc, create_time"}, [OLD, OTHER, CUSTOM]),
        ({"orderBy": "region", "project": "demo"}, [CUSTOM, OLD]),
    ],
)
def test_jobs_are_chosen(http: httpx.Client, query: dict[str, str], expected: list[str]) -> None:
    assert names(http.get("/footplate/v1/jobs", params=query)) == expected


@pytest.mark.parametrize(
    ("query", "part"),
    [
        ({"region": "europe-west"}, "region: unknown region 'europe-west'; did you mean europe"),
        ({"filter": "region=us-centrall1"}, "unknown region; did you mean us-central1"),
        ({"kind": "custom"}, "kind: unknown kind 'custom'; allowed: jobs, customJobs"),
        ({"filter": "state=DONE"}, "unknown state; allowed: QUEUED, PREPARING"),
    ],
)
def test_unknown_words_are_refused_by_name(
    http: httpx.Client, query: dict[str, str], part: str
) -> None:
    refused = http.get("/footplate/v1/jobs", params=query)
    assert refused.status_code == 400
    assert part in refused.json()["error"]["message"]


def test_a_region_without_jobs_is_known(http: httpx.Client) -> None:
    assert names(http.get("/footplate/v1/jobs", params={"region": "us-east1"})) == []


@pytest.mark.parametrize("region", ["", "europe-west4"])
def test_pages_hold_each_job_once(http: httpx.Client, region: str) -> None:
    found: list[str] = []
    query = {"pageSize": "1", "region": region}
    while True:
        answer = http.get("/footplate/v1/jobs", params=query)
        found += names(answer)
        if "nextPageToken" not in answer.json():
            break
        query["pageToken"] = answer.json()["nextPageToken"]
    assert found == ([CUSTOM, OLD] if region else [OTHER, CUSTOM, OLD])


@pytest.mark.parametrize("region", ["", "europe-west4"])
def test_pages_lead_back(http: httpx.Client, region: str) -> None:
    query = {"pageSize": "1", "region": region}
    first = http.get("/footplate/v1/jobs", params=query).json()
    assert "previousPageToken" not in first
    query["pageToken"] = first["nextPageToken"]
    second = http.get("/footplate/v1/jobs", params=query).json()
    query["pageToken"] = second["previousPageToken"]
    again = http.get("/footplate/v1/jobs", params=query).json()
    assert again["jobs"] == first["jobs"]
    assert "previousPageToken" not in again
    query["pageToken"] = again["nextPageToken"]
    assert http.get("/footplate/v1/jobs", params=query).json() == second


def test_a_region_is_compared_as_it_is(http: httpx.Client) -> None:
    answer = http.get("/footplate/v1/jobs", params={"filter": "region:europe"})
    assert answer.status_code == 400
    assert "region" in answer.json()["error"]["message"]


def test_a_token_of_another_list_is_refused(http: httpx.Client) -> None:
    token = http.get("/footplate/v1/jobs", params={"pageSize": "1"}).json()["nextPageToken"]
    answer = http.get("/footplate/v1/jobs", params={"pageToken": token, "project": "demo"})
    assert answer.status_code == 400


def test_a_list_shows_what_a_job_takes_and_how_it_ended(http: httpx.Client) -> None:
    job = http.get("/footplate/v1/jobs", params={"kind": "customJobs"}).json()["jobs"][0]
    assert job == {
        "name": CUSTOM,
        "displayName": "Model 1",
        "jobId": "7",
        "project": "demo",
        "region": "europe-west4",
        "kind": "customJobs",
        "state": "FAILED",
        "machines": [
            {
                "role": job["machines"][0]["role"],
                "count": 1,
                "machineType": "a2-highgpu-1g",
                "acceleratorType": "NVIDIA_TESLA_A100",
                "acceleratorCount": 1,
            }
        ],
        "restarts": 2,
        "createTime": "2026-01-02T04:04:05.678901Z",
        "startTime": "2026-01-02T03:04:05.678901Z",
        "endTime": "2026-01-02T03:04:10.678901Z",
        "labels": {"team": "ads"},
        "message": "It failed.",
        "perHour": {"machines": 1, "accelerators": 1, "cost": 3.5, "currency": "EUR"},
    }


def test_hours_are_those_of_the_jobs_that_have_replicas(http: httpx.Client) -> None:
    used = http.get(f"/footplate/v1/{CUSTOM}/hours").json()
    hours = 5 / 3600
    assert used["machineHours"] == {"a2-highgpu-1g": pytest.approx(hours)}
    assert used["acceleratorHours"] == {"NVIDIA_TESLA_A100": pytest.approx(hours)}
    assert (used["cost"], used["currency"]) == (pytest.approx(3.5 * hours), "EUR")
    waiting = http.get(f"/footplate/v1/{OLD}/hours").json()
    assert waiting == {"machineHours": {}, "acceleratorHours": {}, "cost": 0, "currency": "EUR"}


def test_details_have_replicas_request_and_spec(http: httpx.Client) -> None:
    job = http.get(f"/footplate/v1/{CUSTOM}/details").json()
    assert job["message"] == "It failed."
    assert job["request"] == {"displayName": "Model"}
    assert job["replicas"] == [
        {
            "name": "workerpool0-0",
            "phase": "GONE",
            "restarts": 2,
            "restart": 0,
            "devices": ["0"],
            "address": "10.0.0.1:2222",
            "exit": {"kind": "EXITED", "code": 1, "cause": "ValueError: x", "advice": "Mend it."},
        }
    ]
    assert job["spec"]["pools"][0]["program"]["module"] == "trainer.task"
    assert http.get(f"/footplate/v1/{CUSTOM}0/details").status_code == 404


def test_jobs_of_any_kind_are_deleted_when_they_have_ended(
    http: httpx.Client, store: MemoryStore
) -> None:
    refused = http.delete(f"/footplate/v1/{OLD}")
    assert (refused.status_code, refused.json()["error"]["status"]) == (400, "FAILED_PRECONDITION")
    for name in (OLD, OTHER):
        job = store.get(parse_job_name(name))
        ended = replace(job, state=State.SUCCEEDED, end_time=CREATED, version=job.version + 1)
        store.update(ended, ())
    for left, name in ((2, OLD), (1, CUSTOM), (0, OTHER)):
        assert http.delete(f"/footplate/v1/{name}").json() == {}
        assert len(names(http.get("/footplate/v1/jobs"))) == left
        assert http.delete(f"/footplate/v1/{name}").status_code == 404


PIPELINE = "projects/demo/locations/us-central1/trainingPipelines/9"
BACKING = "projects/demo/locations/us-central1/customJobs/9"


@pytest.fixture
def pipeline(store: MemoryStore) -> None:
    """A training pipeline, and the job that runs its program."""
    made = make_job(PIPELINE, uid="abc", created=CREATED + timedelta(hours=5), display_name="train")
    upload = Pipeline(
        "train-custom-job", "{}", model="projects/demo/locations/us-central1/models/9@1"
    )
    store.create(replace(made, spec=replace(made.spec, pipeline=upload)), ())
    later = CREATED + timedelta(hours=5, seconds=1)
    store.create(make_job(BACKING, uid="abcp", created=later, display_name="train-custom-job"), ())


@pytest.mark.usefixtures("pipeline")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, [PIPELINE, OTHER, CUSTOM, OLD]),
        ({"filter": 'displayName:"train"'}, [PIPELINE]),
        ({"filter": 'displayName="train-custom-job"'}, [BACKING]),
        ({"kind": "customJobs"}, [BACKING, CUSTOM]),
        ({"kind": "trainingPipelines"}, [PIPELINE, OTHER]),
        ({"project": "demo", "region": "us-central1"}, [PIPELINE]),
        ({"pageSize": "1"}, [PIPELINE]),
    ],
)
def test_a_pipeline_stands_for_the_job_that_runs_its_program(
    http: httpx.Client, query: dict[str, str], expected: list[str]
) -> None:
    assert names(http.get("/footplate/v1/jobs", params=query)) == expected


@pytest.mark.usefixtures("pipeline")
@pytest.mark.parametrize("size", ["1", "2", "3"])
def test_pages_with_pipelines_hold_each_once_and_lead_back(http: httpx.Client, size: str) -> None:
    found: list[str] = []
    asked = {"pageSize": size}
    while True:
        page = http.get("/footplate/v1/jobs", params=asked)
        found += names(page)
        if "nextPageToken" not in page.json():
            break
        asked = {"pageSize": size, "pageToken": page.json()["nextPageToken"]}
    assert found == [PIPELINE, OTHER, CUSTOM, OLD]
    while "previousPageToken" in page.json():
        asked = {"pageSize": size, "pageToken": page.json()["previousPageToken"]}
        page = http.get("/footplate/v1/jobs", params=asked)
        if not names(page):
            break
        first = names(page)[0]
    assert first == PIPELINE


def test_a_job_whose_pipeline_was_deleted_is_a_row(
    http: httpx.Client, store: MemoryStore, pipeline: None
) -> None:
    store.delete(parse_job_name(PIPELINE), 1)
    assert names(http.get("/footplate/v1/jobs"))[0] == BACKING
    assert "pipeline" not in http.get(f"/footplate/v1/{BACKING}/details").json()


@pytest.mark.usefixtures("pipeline")
def test_details_lead_from_a_pipeline_to_its_job_and_its_model_and_back(
    http: httpx.Client,
) -> None:
    details = http.get(f"/footplate/v1/{PIPELINE}/details").json()
    assert details["backing"] == BACKING
    assert details["model"] == "projects/demo/locations/us-central1/models/9@1"
    assert http.get(f"/footplate/v1/{BACKING}/details").json()["pipeline"] == PIPELINE
    assert "pipeline" not in http.get(f"/footplate/v1/{CUSTOM}/details").json()


def test_labels_and_notes_of_any_kind_are_changed(http: httpx.Client) -> None:
    for name in (OLD, OTHER):
        url = f"/footplate/v1/{name}"
        changed = http.patch(
            url, json={"labels": {"team": "ads"}, "note": "the best <b>so far</b>"}
        )
        assert changed.json()["labels"] == {"team": "ads"}
        assert http.patch(url, json={"labels": {}}).json()["note"] == "the best <b>so far</b>"
        (listed,) = [j for j in http.get("/footplate/v1/jobs").json()["jobs"] if j["name"] == name]
        assert (listed["note"], "labels" in listed) == ("the best <b>so far</b>", False)
        assert "note" not in http.patch(url, json={"note": ""}).json()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "body"),
        ({"labels": {"Team": "x"}}, "labels"),
        ({"labels": ["x"]}, "labels"),
        ({"labels": {"a": 1}}, "labels"),
        ({"note": 1}, "note"),
        ({"note": "x" * 2001}, "note"),
        ({"state": "FAILED"}, "state"),
    ],
)
def test_bad_patches_name_the_field(http: httpx.Client, body: object, field: str) -> None:
    answer = http.patch(f"/footplate/v1/{OLD}", json=body)
    assert (answer.status_code, answer.json()["error"]["message"][: len(field)]) == (400, field)
