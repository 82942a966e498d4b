"""Studies and trials of aiplatform v1, as JSON over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from footplate.control.suggestions import tuner_loader

if TYPE_CHECKING:
    import httpx

P = "projects/demo/locations/us-central1"
STUDIES = f"/v1/{P}/studies"
SPEC: dict[str, Any] = {
    "metrics": [{"metricId": "loss", "goal": "MINIMIZE"}],
    "parameters": [
        {"parameterId": "x", "integerValueSpec": {"minValue": "1", "maxValue": "4"}},
        {"parameterId": "y", "discreteValueSpec": {"values": [0.5, 2]}},
    ],
    "algorithm": "GRID_SEARCH",
}
MEDIAN: dict[str, Any] = {"medianAutomatedStoppingSpec": {}}
TYPES = "type.googleapis.com/google.cloud.aiplatform"


@pytest.fixture(scope="module", autouse=True)
def tuner() -> None:
    """Its libraries are imported at the first suggestion; on a busy machine that takes long."""
    tuner_loader.load()


def make(http: httpx.Client, display_name: str = "s", query: str = "", **more: Any) -> str:
    body = {"displayName": display_name, "studySpec": {**SPEC, **more}}
    response = http.post(f"{STUDIES}{query}", json=body)
    assert response.status_code == 200, response.text
    return str(response.json()["name"])


def test_a_study_is_of_a_region_that_there_is(http: httpx.Client) -> None:
    body = {"displayName": "s", "studySpec": SPEC}
    answer = http.post("/v1/projects/demo/locations/us-centrall/studies", json=body)
    status, _, message = refusal(answer)
    assert status == 400
    assert message.startswith(
        "parent: 'us-centrall' given, which is not a region of the catalogue; "
    )
    assert "us-central1" in message


def suggest(http: httpx.Client, study: str, count: int = 1, client: str = "a") -> dict[str, Any]:
    body = {"suggestionCount": count, "clientId": client}
    response = http.post(f"/v1/{study}/trials:suggest", json=body)
    assert response.status_code == 200, response.text
    operation: dict[str, Any] = response.json()
    assert operation["done"] is True
    return operation


def post(http: httpx.Client, name: str, **body: Any) -> dict[str, Any]:
    response = http.post(f"/v1/{name}", json=body)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def refusal(response: httpx.Response) -> tuple[int, str, str]:
    error = response.json()["error"]
    return response.status_code, error["status"], error["message"]


def reading(loss: float | str, step: int = 0) -> dict[str, Any]:
    return {"stepCount": str(step), "metrics": [{"metricId": "loss", "value": loss}]}


def complete(http: httpx.Client, trial: str, loss: float | str) -> dict[str, Any]:
    return post(http, f"{trial}:complete", finalMeasurement=reading(loss))


def test_a_study_is_made_found_and_deleted(http: httpx.Client) -> None:
    assert http.get(STUDIES).json() == {}
    name = make(http, algorithm=2)
    made = http.get(f"/v1/{name}").json()
    assert made["studySpec"] == SPEC
    assert (made["displayName"], made["state"], made["name"]) == ("s", "ACTIVE", name)
    assert made["createTime"].endswith("Z")
    assert "inactiveReason" not in made
    assert http.post(f"{STUDIES}:lookup", json={"displayName": "s"}).json() == made
    assert http.get(STUDIES).json() == {"studies": [made]}
    assert http.get(f"/v1beta1/{P}/studies").json() == {"studies": [made]}
    suggest(http, name)
    assert http.delete(f"/v1/{name}").json() == {}
    for gone in (f"/v1/{name}", f"/v1/{name}/trials", f"/v1/{name}/trials/1"):
        assert refusal(http.get(gone))[:2] == (404, "NOT_FOUND")
    assert http.post(f"{STUDIES}:lookup", json={"displayName": "s"}).status_code == 404
    assert http.delete(f"/v1/{name}").status_code == 404


def test_a_study_that_is_there_already_is_the_answer_if_it_is_the_same(http: httpx.Client) -> None:
    name = make(http, algorithm=2)
    assert make(http) == name
    other = {"displayName": "s", "studySpec": {**SPEC, "algorithm": "RANDOM_SEARCH"}}
    status, code, message = refusal(http.post(STUDIES, json=other))
    assert (status, code) == (409, "ALREADY_EXISTS")
    assert name in message
    elsewhere = http.post("/v1/projects/demo/locations/europe-west1/studies", json=other)
    assert elsewhere.status_code == 200


def test_studies_come_in_pages_newest_first(http: httpx.Client) -> None:
    names = [make(http, f"s{n}") for n in range(3)]
    first = http.get(STUDIES, params={"pageSize": 2}).json()
    assert [study["name"] for study in first["studies"]] == names[:0:-1]
    rest = http.get(STUDIES, params={"pageToken": first["nextPageToken"]}).json()
    assert [study["name"] for study in rest["studies"]] == names[:1]
    assert "nextPageToken" not in rest


def test_what_is_wrong_with_a_study_is_said_at_once(http: httpx.Client) -> None:
    body = {"studySpec": {**SPEC, "metrics": [], "algorithm": "GUESS"}}
    status, code, message = refusal(http.post(STUDIES, json=body))
    assert (status, code) == (400, "INVALID_ARGUMENT")
    assert all(field in message for field in ("displayName", "metrics", "algorithm"))


@pytest.mark.parametrize("prefix", ["/v1", "/v1beta1", "/ui"])
def test_a_suggestion_is_done_and_found_again(http: httpx.Client, prefix: str) -> None:
    study = make(http)
    operation = suggest(http, study, 3)
    assert operation["name"].startswith(f"{study}/operations/")
    assert operation["metadata"]["@type"] == f"{TYPES}.v1.SuggestTrialsMetadata"
    assert operation["metadata"]["clientId"] == "a"
    response = operation["response"]
    assert response["@type"] == f"{TYPES}.v1.SuggestTrialsResponse"
    assert response["studyState"] == "ACTIVE"
    assert [trial["id"] for trial in response["trials"]] == ["1", "2", "3"]
    assert {trial["state"] for trial in response["trials"]} == {"ACTIVE"}
    first = response["trials"][0]
    assert first["parameters"] == [
        {"parameterId": "x", "value": 1},
        {"parameterId": "y", "value": 0.5},
    ]
    complete(http, first["name"], 0.5)
    url = f"{prefix}/{operation['name']}"
    assert http.get(url).json() == operation
    assert http.post(f"{url}:wait", json={}).json() == operation
    assert http.post(f"{url}:cancel", json={}).json() == {}
    assert http.delete(url).json() == {}
    assert http.get(f"{prefix}/{study}/operations").json() == {}
    assert http.get(f"{url}x").status_code == 404


def test_of_v1beta1_operations_have_its_types(http: httpx.Client) -> None:
    study = make(http)
    body = {"suggestionCount": 1, "clientId": "a"}
    operation = http.post(f"/v1beta1/{study}/trials:suggest", json=body).json()
    assert operation["response"]["@type"] == f"{TYPES}.v1beta1.SuggestTrialsResponse"
    trial = operation["response"]["trials"][0]["name"]
    check = http.post(f"/v1beta1/{trial}:checkTrialEarlyStoppingState", json={}).json()
    kind = "CheckTrialEarlyStoppingState"
    assert check["response"] == {"@type": f"{TYPES}.v1beta1.{kind}Response", "shouldStop": False}
    assert check["metadata"]["@type"] == f"{TYPES}.v1beta1.{kind}Metatdata"


def test_a_client_gets_its_own_trials_back_first(http: httpx.Client) -> None:
    study = make(http)

    def ids(count: int, client: str) -> list[str]:
        return [t["id"] for t in suggest(http, study, count, client)["response"]["trials"]]

    assert ids(2, "a") == ["1", "2"]
    assert ids(1, "b") == ["3"]
    assert ids(1, "a") == ["1"]
    complete(http, f"{study}/trials/1", 1.0)
    assert ids(2, "a") == ["2", "4"]


def test_a_users_own_point_is_handed_out_first(http: httpx.Client) -> None:
    study = make(http)
    parameters = [{"parameterId": "x", "value": 3.0}, {"parameterId": "y", "value": 2}]
    made = post(http, f"{study}/trials", parameters=parameters)
    assert (made["id"], made["state"]) == ("1", "REQUESTED")
    assert "startTime" not in made
    trials = suggest(http, study, 2, "b")["response"]["trials"]
    assert [trial["id"] for trial in trials] == ["1", "2"]
    assert trials[0]["parameters"][0]["value"] == 3
    assert trials[0]["clientId"] == "b"


def test_a_trial_that_was_done_elsewhere_counts(http: httpx.Client) -> None:
    study = make(http)
    parameters = [{"parameterId": "x", "value": 1}, {"parameterId": "y", "value": 0.5}]
    done = {"state": "SUCCEEDED", "measurements": [reading(3.0, 1), reading(2.0, 2)]}
    made = post(http, f"{study}/trials", parameters=parameters, **done)
    assert made["finalMeasurement"]["metrics"] == [{"metricId": "loss", "value": 2.0}]
    assert [m["stepCount"] for m in made["measurements"]] == ["1", "2"]
    optimal = post(http, f"{study}/trials:listOptimalTrials")["optimalTrials"]
    assert [trial["name"] for trial in optimal] == [made["name"]]
    wrong = {"parameters": [{"parameterId": "x", "value": 5}]}
    status, _, message = refusal(http.post(f"/v1/{study}/trials", json=wrong))
    assert status == 400
    assert "x: 5 given; allowed: a whole number, 1 to 4" in message
    assert "y: required: 0.5, 2" in message


def test_measurements_are_kept_in_order_and_the_last_one_counts(http: httpx.Client) -> None:
    study = make(http)
    suggest(http, study)
    trial = f"{study}/trials/1"
    for step, loss in ((2, 0.5), (1, 0.9), (2, 0.5)):
        told = post(http, f"{trial}:addTrialMeasurement", measurement=reading(loss, step))
    assert [m["stepCount"] for m in told["measurements"]] == ["1", "2"]
    done = post(http, f"{trial}:complete")
    assert done["state"] == "SUCCEEDED"
    assert done["finalMeasurement"]["metrics"] == [{"metricId": "loss", "value": 0.5}]
    assert done["endTime"] > done["startTime"]
    assert http.get(f"/v1/{trial}").json() == done


def test_what_has_ended_is_not_changed(http: httpx.Client) -> None:
    study = make(http)
    suggest(http, study)
    trial = f"{study}/trials/1"
    nothing = http.post(f"/v1/{trial}:complete", json={})
    assert refusal(nothing)[:2] == (400, "FAILED_PRECONDITION")
    complete(http, trial, 1.0)
    for verb, body in (("addTrialMeasurement", {"measurement": reading(1.0)}), ("complete", {})):
        status, code, message = refusal(http.post(f"/v1/{trial}:{verb}", json=body))
        assert (status, code) == (400, "FAILED_PRECONDITION")
        assert "has ended as SUCCEEDED" in message
    assert post(http, f"{trial}:stop")["state"] == "SUCCEEDED"


def test_what_is_no_number_is_told_and_never_the_best(http: httpx.Client) -> None:
    study = make(http)
    suggest(http, study, 2)
    lost = complete(http, f"{study}/trials/1", "NaN")
    assert lost["state"] == "SUCCEEDED"
    assert lost["finalMeasurement"]["metrics"] == [{"metricId": "loss", "value": "NaN"}]
    assert post(http, f"{study}/trials:listOptimalTrials") == {}
    complete(http, f"{study}/trials/2", 7.0)
    optimal = post(http, f"{study}/trials:listOptimalTrials")["optimalTrials"]
    assert [trial["id"] for trial in optimal] == ["2"]


def test_an_infeasible_trial_says_why(http: httpx.Client) -> None:
    study = make(http)
    suggest(http, study)
    body = {"trialInfeasible": True, "infeasibleReason": "out of memory"}
    done = post(http, f"{study}/trials/1:complete", **body)
    assert (done["state"], done["infeasibleReason"]) == ("INFEASIBLE", "out of memory")
    assert "finalMeasurement" not in done


def test_metrics_that_the_study_does_not_have_are_refused(http: httpx.Client) -> None:
    study = make(http, metrics=[*SPEC["metrics"], {"metricId": "size"}])
    suggest(http, study)
    unknown = {"metrics": [{"metricId": "speed", "value": 1}]}
    trial = f"/v1/{study}/trials/1"
    response = http.post(f"{trial}:addTrialMeasurement", json={"measurement": unknown})
    assert "allowed: the study's metrics loss, size" in refusal(response)[2]
    response = http.post(f"{trial}:complete", json={"finalMeasurement": reading(1.0)})
    assert "metric size is missing" in refusal(response)[2]


def test_a_trial_that_is_clearly_worse_should_stop(http: httpx.Client) -> None:
    study = make(http, **MEDIAN)
    suggest(http, study, 6)
    for number in range(1, 6):
        trial = f"{study}/trials/{number}"
        post(http, f"{trial}:addTrialMeasurement", measurement=reading(1.0, 1))
        post(http, f"{trial}:complete")
    last = f"{study}/trials/6"
    check = f"{last}:checkTrialEarlyStoppingState"
    assert post(http, check)["response"]["shouldStop"] is False
    post(http, f"{last}:addTrialMeasurement", measurement=reading(9.0, 1))
    operation = post(http, check)
    assert operation["response"]["shouldStop"] is True
    assert operation["metadata"]["trial"] == last
    assert http.get(f"/v1/{last}").json()["state"] == "STOPPING"
    for prefix in ("/v1", "/v1beta1", "/ui"):
        assert http.get(f"{prefix}/{operation['name']}").json() == operation
    assert post(http, check)["response"]["shouldStop"] is True
    assert post(http, f"{last}:complete")["state"] == "SUCCEEDED"


def test_without_a_stopping_rule_trials_stop_only_when_a_client_asks(http: httpx.Client) -> None:
    study = make(http)
    suggest(http, study)
    check = f"{study}/trials/1:checkTrialEarlyStoppingState"
    assert post(http, check)["response"]["shouldStop"] is False
    assert post(http, f"{study}/trials/1:stop")["state"] == "STOPPING"
    assert post(http, check)["response"]["shouldStop"] is True


def test_a_study_is_inactive_once_it_is_over_and_says_why(http: httpx.Client) -> None:
    limit: dict[str, Any] = {"studyStoppingConfig": {"maxNumTrials": 2}}
    study = make(http, **limit)
    assert len(suggest(http, study, 5)["response"]["trials"]) == 2
    response = suggest(http, study, 1, "b")["response"]
    assert "trials" not in response
    assert response["studyState"] == "INACTIVE"
    told = http.get(f"/v1/{study}").json()
    assert (told["state"], told["inactiveReason"]) == (
        "INACTIVE",
        "the study has all of its 2 trials",
    )
    again = suggest(http, study, 1, "a")["response"]
    assert [trial["id"] for trial in again["trials"]] == ["1"]


def test_should_stop_asap_stops_what_still_runs(http: httpx.Client) -> None:
    study = make(http, studyStoppingConfig={"maxNumTrials": 1, "shouldStopAsap": True})
    suggest(http, study)
    check = f"{study}/trials/1:checkTrialEarlyStoppingState"
    assert post(http, check)["response"]["shouldStop"] is True


def test_a_study_whose_every_point_was_tried_is_completed(http: httpx.Client) -> None:
    study = make(http)
    response = suggest(http, study, 10)["response"]
    assert len(response["trials"]) == 8
    assert response["studyState"] == "COMPLETED"
    assert "inactiveReason" not in http.get(f"/v1/{study}").json()


def test_trials_come_in_one_page_unless_asked(http: httpx.Client) -> None:
    study = make(http, algorithm="RANDOM_SEARCH", observationNoise="HIGH")
    suggest(http, study, 150)
    listed = http.get(f"/v1/{study}/trials").json()
    assert [trial["id"] for trial in listed["trials"]] == [str(n) for n in range(1, 151)]
    assert "nextPageToken" not in listed
    page = http.get(f"/v1/{study}/trials", params={"pageSize": 149}).json()
    rest = http.get(f"/v1/{study}/trials", params={"pageToken": page["nextPageToken"]}).json()
    assert [trial["id"] for trial in rest["trials"]] == ["150"]


def test_a_deleted_trial_is_gone_and_its_number_too(http: httpx.Client) -> None:
    study = make(http)
    operation = suggest(http, study, 2)
    assert http.delete(f"/v1/{study}/trials/2").json() == {}
    assert http.get(f"/v1/{study}/trials/2").status_code == 404
    assert http.delete(f"/v1/{study}/trials/2").status_code == 404
    assert http.get(f"/v1/{study}/trials/x").status_code == 404
    trials = http.get(f"/v1/{operation['name']}").json()["response"]["trials"]
    assert [trial["id"] for trial in trials] == ["1"]
    assert suggest(http, study, 1, "b")["response"]["trials"][0]["id"] == "3"


def test_a_study_learns_from_earlier_ones(http: httpx.Client) -> None:
    first = make(http, "first", algorithm="ALGORITHM_UNSPECIFIED")
    for _ in range(6):
        trial = suggest(http, first)["response"]["trials"][0]
        complete(http, trial["name"], float(trial["parameters"][0]["value"]))
    tried = {str(t["parameters"]) for t in http.get(f"/v1/{first}/trials").json()["trials"]}
    query = f"?learnFrom={first.rpartition('/')[2]}"
    second = make(http, "second", query, algorithm="ALGORITHM_UNSPECIFIED")
    trials = suggest(http, second, 2)["response"]["trials"]
    assert tried.isdisjoint(str(trial["parameters"]) for trial in trials)
    body = {"displayName": "third", "studySpec": SPEC}
    status, _, message = refusal(http.post(f"{STUDIES}?learnFrom=404", json=body))
    assert status == 400
    assert "learnFrom: '404' given" in message
