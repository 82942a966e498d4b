"""Studies of ml v1 beside those of aiplatform v1, at the same URLs."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from footplate.api.security import Access
from footplate.control.suggestions import tuner_loader
from tests.api.faces.conftest import Switch, build
from tests.support.jobs_service import MemoryJobs

P = "projects/demo/locations/us-central1"
STUDIES = f"/v1/{P}/studies"
CONFIG: dict[str, Any] = {
    "metrics": [{"metric": "loss", "goal": "MINIMIZE"}],
    "parameters": [
        {
            "parameter": "x",
            "type": "INTEGER",
            "integerValueSpec": {"minValue": "1", "maxValue": "3"},
        },
        {
            "parameter": "y",
            "type": "DISCRETE",
            "discreteValueSpec": {"values": [0.5, 2]},
        },
    ],
    "algorithm": "GRID_SEARCH",
    "automatedStoppingConfig": {"medianAutomatedStoppingConfig": {}},
}
SPEC: dict[str, Any] = {
    "metrics": [{"metricId": "loss"}],
    "parameters": [{"parameterId": "x", "integerValueSpec": {"minValue": "1", "maxValue": "3"}}],
    "algorithm": "GRID_SEARCH",
}
TYPES = "type.googleapis.com/google.cloud.ml.v1"
ML = {"host": "us-central1-ml.googleapis.com"}
VERTEX = {"host": "us-central1-aiplatform.googleapis.com"}
GENERATED = {"x-goog-api-client": "gl-python/3.11 rest@2 gapic/1.71.1"}


@pytest.fixture(scope="module", autouse=True)
def tuner() -> None:
    """Its libraries are imported at the first suggestion; on a busy machine that takes long."""
    tuner_loader.load()


@pytest.fixture
def url(switch: Switch, jobs: MemoryJobs) -> str:
    """Of a server that may also be called by Google's names, as the proxy does."""
    hosts = frozenset({ML["host"], VERTEX["host"]})
    switch.app = build(jobs, Access(host_names=hosts))
    return switch.url


def make(http: httpx.Client, study_id: str = "s", **changes: Any) -> str:
    body = {"studyConfig": {**CONFIG, **changes}}
    response = http.post(STUDIES, params={"studyId": study_id}, json=body)
    assert response.status_code == 200, response.text
    return str(response.json()["name"])


def make_vertex(http: httpx.Client, name: str = "theirs") -> str:
    response = http.post(STUDIES, json={"displayName": name, "studySpec": SPEC})
    assert response.status_code == 200, response.text
    return str(response.json()["name"])


def post(http: httpx.Client, name: str, **body: Any) -> dict[str, Any]:
    response = http.post(f"/v1/{name}", json=body)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def suggest(http: httpx.Client, study: str, count: int = 1, client: str = "a") -> dict[str, Any]:
    return post(http, f"{study}/trials:suggest", suggestionCount=count, clientId=client)


def reading(loss: float, step: int = 0) -> dict[str, Any]:
    return {"stepCount": str(step), "metrics": [{"metric": "loss", "value": loss}]}


def refusal(response: httpx.Response) -> tuple[int, str, str]:
    error = response.json()["error"]
    return response.status_code, error["status"], error["message"]


def ids(response: httpx.Response) -> list[str]:
    return [study["name"].rpartition("/")[2] for study in response.json().get("studies", [])]


def test_a_study_is_made_found_and_deleted(http: httpx.Client) -> None:
    name = make(http)
    assert name == f"{P}/studies/s"
    made = http.get(f"/v1/{name}").json()
    assert made.keys() == {"name", "studyConfig", "state", "createTime"}
    assert (made["studyConfig"], made["state"]) == (CONFIG, "ACTIVE")
    assert http.get(STUDIES).json() == {"studies": [made]}
    again = http.post(STUDIES, params={"studyId": "s"}, json={"studyConfig": CONFIG})
    assert refusal(again)[:2] == (409, "ALREADY_EXISTS")
    assert f"{name} already exists" in refusal(again)[2]
    assert http.delete(f"/v1/{name}").json() == {}
    assert refusal(http.get(f"/v1/{name}"))[:2] == (404, "NOT_FOUND")
    assert http.delete(f"/v1/{name}").status_code == 404


def test_a_study_needs_an_id_and_a_region(http: httpx.Client) -> None:
    body = {"studyConfig": CONFIG}
    assert "studyId: required" in refusal(http.post(STUDIES, json=body, headers=ML))[2]
    answer = http.post(STUDIES, params={"studyId": "17"}, json=body)
    assert refusal(answer)[0] == 400
    assert "studyId: " in refusal(answer)[2]
    elsewhere = "/v1/projects/demo/locations/us-centrall/studies"
    answer = http.post(elsewhere, params={"studyId": "s"}, json=body)
    assert refusal(answer)[2].startswith("parent: 'us-centrall' given")


def test_each_api_answers_in_its_own_form(http: httpx.Client) -> None:
    ours, theirs = make(http), make_vertex(http)
    number = theirs.rpartition("/")[2]
    assert ids(http.get(STUDIES, headers=ML)) == ["s"]
    assert [
        ("studyConfig" in s, "studySpec" in s) for s in http.get(STUDIES).json()["studies"]
    ] == [
        (False, True),
        (True, False),
    ]
    for url, headers in (
        (STUDIES, VERTEX),
        (STUDIES, GENERATED),
        (STUDIES.replace("v1", "v1beta1"), {}),
    ):
        answer = http.get(url, headers=headers)
        assert ids(answer) == [number, "s"]
        assert all("studySpec" in study for study in answer.json()["studies"])
    assert "studySpec" in http.get(f"/v1/{ours}", headers=GENERATED).json()
    assert "studyConfig" in http.get(f"/v1/{ours}", headers=ML).json()
    assert "studySpec" in http.get(f"/v1/{theirs}").json()
    found = http.post(f"{STUDIES}:lookup", json={"displayName": "s"}).json()
    assert found == http.get(f"/v1beta1/{ours}").json()


def test_clients_of_both_apis_work_on_one_study(http: httpx.Client) -> None:
    study = make(http)
    trial = suggest(http, study)["response"]["trials"][0]["name"]
    measured = {"measurement": {"metrics": [{"metricId": "loss", "value": 2}]}}
    assert http.post(f"/v1/{trial}:addTrialMeasurement", json=measured).status_code == 200
    done = http.post(f"/v1beta1/{trial}:complete", json={}).json()
    assert (done["state"], done["parameters"][0]) == ("SUCCEEDED", {"parameterId": "x", "value": 1})
    told = http.get(f"/v1/{trial}").json()
    assert (told["state"], told["parameters"][0]) == (
        "COMPLETED",
        {"parameter": "x", "intValue": "1"},
    )


def test_of_aiplatform_no_study_has_a_chosen_id(http: httpx.Client) -> None:
    body = {"displayName": "d", "studySpec": SPEC}
    for headers, version in ((VERTEX, "v1"), ({}, "v1beta1")):
        url = STUDIES.replace("v1", version)
        answer = http.post(url, params={"studyId": "s"}, json=body, headers=headers)
        assert refusal(answer)[0] == 400
        assert "studyId: given; allowed: in ml v1 alone" in refusal(answer)[2]


def test_a_suggestion_is_done_and_found_again(http: httpx.Client) -> None:
    study = make(http)
    operation = suggest(http, study, 2)
    assert operation["name"].startswith(f"{P}/operations/")
    assert operation["done"] is True
    assert operation["metadata"] == {
        "@type": f"{TYPES}.SuggestTrialsMetadata",
        "createTime": operation["metadata"]["createTime"],
        "study": study,
        "suggestionCount": 2,
        "clientId": "a",
    }
    response = operation["response"]
    assert response["@type"] == f"{TYPES}.SuggestTrialsResponse"
    assert response["studyState"] == "ACTIVE"
    assert response["startTime"] <= response["endTime"]
    assert [trial["name"] for trial in response["trials"]] == [
        f"{study}/trials/{n}" for n in (1, 2)
    ]
    assert response["trials"][0]["parameters"] == [
        {"parameter": "x", "intValue": "1"},
        {"parameter": "y", "floatValue": 0.5},
    ]
    post(http, f"{study}/trials/1:complete", finalMeasurement=reading(0.5))
    url = f"/v1/{operation['name']}"
    assert http.get(url).json() == operation
    assert http.get(url, headers=ML).json() == operation
    assert http.post(f"{url}:cancel", json={}).json() == {}
    assert http.get(f"{url}x").status_code == 404
    assert http.get(f"/v1/{P}/operations/x", headers=ML).status_code == 404


def test_a_trial_is_measured_checked_and_completed(http: httpx.Client) -> None:
    study = make(http)
    suggest(http, study, 6)
    for number in range(1, 6):
        trial = f"{study}/trials/{number}"
        post(http, f"{trial}:addMeasurement", measurement=reading(1.0, 1))
        assert post(http, f"{trial}:complete")["state"] == "COMPLETED"
    last = f"{study}/trials/6"
    check = f"{last}:checkEarlyStoppingState"
    assert post(http, check)["response"]["shouldStop"] is False
    told = post(http, f"{last}:addMeasurement", measurement=reading(9.0, 1))
    assert told["measurements"] == [
        {"stepCount": "1", "elapsedTime": "0s", "metrics": [{"metric": "loss", "value": 9.0}]}
    ]
    operation = post(http, check)
    assert operation["response"]["shouldStop"] is True
    assert operation["response"]["@type"] == f"{TYPES}.CheckTrialEarlyStoppingStateResponse"
    assert http.get(f"/v1/{operation['name']}").json() == operation
    assert post(http, f"{last}:stop")["state"] == "STOPPING"
    body = {"trialInfeasible": True, "infeasibleReason": "out of memory"}
    failed = post(http, f"{last}:complete", **body)
    assert (failed["state"], failed["trialInfeasible"]) == ("COMPLETED", True)
    assert failed["infeasibleReason"] == "out of memory"
    listed = http.get(f"/v1/{study}/trials").json()["trials"]
    assert [trial["state"] for trial in listed] == ["COMPLETED"] * 6
    assert refusal(http.post(f"/v1/{last}:complete", json={}))[:2] == (400, "FAILED_PRECONDITION")


def test_the_best_trials_are_listed(http: httpx.Client) -> None:
    study = make(http)
    point = [{"parameter": "x", "intValue": "3"}, {"parameter": "y", "floatValue": 2}]
    body = {"parameters": point, "state": "COMPLETED", "finalMeasurement": reading(0.5)}
    made = post(http, f"{study}/trials", **body)
    assert made["parameters"] == [point[0], {"parameter": "y", "floatValue": 2.0}]
    assert post(http, f"{study}/trials:listOptimalTrials") == {"trials": [made]}
    wrong = {"parameters": [{"parameter": "x", "intValue": "9"}]}
    assert "x: 9 given" in refusal(http.post(f"/v1/{study}/trials", json=wrong))[2]


def test_a_study_whose_every_point_was_tried_says_so(http: httpx.Client) -> None:
    """As Google's service did, and CloudTuner relies on."""
    study = make(http)
    response = suggest(http, study, 10)["response"]
    assert len(response["trials"]) == 6
    assert response["studyState"] == "COMPLETED"
    body = {"suggestionCount": 1, "clientId": "b"}
    status, code, message = refusal(http.post(f"/v1/{study}/trials:suggest", json=body))
    assert (status, code) == (429, "RESOURCE_EXHAUSTED")
    assert study in message
    assert len(suggest(http, study, 1, "a")["response"]["trials"]) == 1


def test_a_study_learns_from_earlier_ones(http: httpx.Client) -> None:
    make(http, "first")
    params = {"studyId": "second", "learnFrom": "first"}
    assert http.post(STUDIES, params=params, json={"studyConfig": CONFIG}).status_code == 200
    params = {"studyId": "third", "learnFrom": "none"}
    answer = http.post(STUDIES, params=params, json={"studyConfig": CONFIG})
    assert "learnFrom: 'none' given" in refusal(answer)[2]
