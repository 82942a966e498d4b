"""Projects, policies, services and tokens, as Google's clients ask for them."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import pytest
from google.auth.transport.requests import Request
from google.oauth2 import service_account

from footplate.api.cloud_projects import SERVICES
from footplate.cli.fake_credentials import make_account
from footplate.domain.names import PROJECT_NUMBER

if TYPE_CHECKING:
    import httpx

LOCATION = "/v1/projects/demo/locations/us-central1"


def test_a_project_is_described_by_both_versions(http: httpx.Client) -> None:
    first = http.get("/v1/projects/demo").json()
    assert (first["projectId"], first["lifecycleState"]) == ("demo", "ACTIVE")
    third = http.get("/v3/projects/demo").json()
    assert (third["projectId"], third["state"]) == ("demo", "ACTIVE")
    assert third["name"] == f"projects/{PROJECT_NUMBER}"  # the SDK compares it with a bucket's


def test_a_name_that_no_project_can_have_is_refused(http: httpx.Client) -> None:
    answer = http.get("/v1/projects/UPPER%20CASE")
    assert answer.status_code == 400
    assert "UPPER CASE" in answer.json()["error"]["message"]


@pytest.mark.parametrize("version", ["v1", "v3"])
def test_everybody_has_all_permissions_and_no_policy_can_be_set(
    version: str, http: httpx.Client
) -> None:
    project = f"/{version}/projects/demo"
    asked = {"permissions": ["aiplatform.customJobs.create"]}
    assert http.post(f"{project}:testIamPermissions", json=asked).json() == asked
    assert http.post(f"{project}:getIamPolicy").json()["bindings"] == []
    options = {"options": {"requestedPolicyVersion": 3}}
    assert http.post(f"{project}:getIamPolicy", json=options).json()["bindings"] == []
    assert http.post(f"{project}:getIamPolicy", json={"option": {}}).status_code == 400
    answer = http.post(f"{project}:setIamPolicy", json={"policy": {}})
    assert answer.status_code == 400
    assert "api_access" in answer.json()["error"]["message"]
    wrong = http.post(f"{project}:testIamPermissions", json={"permissions": "all"})
    assert wrong.status_code == 400


def test_services_that_are_here_are_enabled(http: httpx.Client) -> None:
    services = "/v1/projects/demo/services"
    listed = http.get(services, params={"filter": "state:ENABLED"}).json()["services"]
    assert [each["config"]["name"] for each in listed] == [f"{s}.googleapis.com" for s in SERVICES]
    assert http.get(f"{services}/ml.googleapis.com").json() == listed[SERVICES.index("ml")]
    missing = http.get(f"{services}/compute.googleapis.com")
    assert missing.status_code == 404
    assert "aiplatform" in missing.json()["error"]["message"]
    for path in (f"{services}/compute.googleapis.com:enable", f"{services}:batchEnable"):
        assert http.post(path, json={}).json()["done"] is True
        assert http.post(path, json={"serviceId": "compute"}).status_code == 400
    several = {"serviceIds": ["ml.googleapis.com", "compute.googleapis.com"]}
    assert http.post(f"{services}:batchEnable", json=several).json()["done"] is True


def test_the_made_up_account_gets_a_token(url: str) -> None:
    """With the client that asks for one everywhere: google-auth."""
    account = make_account(url, "demo", secrets.randbits)
    credentials = service_account.Credentials.from_service_account_info(account, scopes=["x"])
    credentials.refresh(Request())
    assert credentials.valid


def test_collections_of_other_products_are_empty_and_refused(http: httpx.Client) -> None:
    endpoints = f"{LOCATION}/endpoints"
    assert http.get(endpoints, params={"pageSize": 5}).json() == {}
    assert http.get(f"{endpoints}/1").json()["error"]["status"] == "NOT_FOUND"
    refusal = http.post(endpoints, json={})
    assert (refusal.status_code, refusal.json()["error"]["status"]) == (400, "FAILED_PRECONDITION")
    assert "serve the files" in refusal.json()["error"]["message"]
    assert http.post(f"{LOCATION}:evaluateInstances", json={}).status_code == 400
