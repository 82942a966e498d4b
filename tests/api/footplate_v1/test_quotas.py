"""Quotas over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from footplate.api.app import create_app
from footplate.api.footplate_v1.quotas import quota_routes
from footplate.api.security import Access
from footplate.control.quotas import EffectiveQuotas, QuotaBook
from footplate.domain.quotas import Quota
from tests.support.http_server import serve
from tests.support.quotas import CATALOGUE, MemoryQuotas

QUOTA = "/footplate/v1/projects/ads/locations/us-central1/quota"


@pytest.fixture
def http() -> Iterator[httpx.Client]:
    configured = (Quota("*", "*", {"vcpus": 64}), Quota("ads", "us-central1", {"jobs": 3}))

    def usage(project: str, region: str) -> dict[str, int]:
        return {"vcpus": 8, "jobs": 1} if (project, region) == ("ads", "us-central1") else {}

    book = QuotaBook(EffectiveQuotas(MemoryQuotas(), configured, CATALOGUE), usage, lambda: None)
    app = create_app(quota_routes(book), Access(None, frozenset()))
    with serve(app) as url, httpx.Client(base_url=url, trust_env=False) as client:
        yield client


def limits(http: httpx.Client, path: str = QUOTA) -> Any:
    return http.get(path).json()["limits"]


def test_a_quota_says_what_is_in_force_used_and_from_where(http: httpx.Client) -> None:
    http.patch(QUOTA, json={"limits": {"nvidia-tesla-t4": 4}})

    answer = http.get(QUOTA)

    here = {"project": "ads", "region": "us-central1"}
    assert answer.status_code == 200
    assert answer.json() == {
        "name": "projects/ads/locations/us-central1/quota",
        **here,
        "limits": {"NVIDIA_TESLA_T4": 4, "jobs": 3, "vcpus": 64},
        "used": {"NVIDIA_TESLA_T4": 0, "jobs": 1, "vcpus": 8},
        "origins": {
            "NVIDIA_TESLA_T4": {"source": "STORED", **here},
            "jobs": {"source": "SETTINGS", **here},
            "vcpus": {"source": "SETTINGS", "project": "*", "region": "*"},
        },
    }


def test_a_change_names_what_it_changes(http: httpx.Client) -> None:
    first = http.patch(QUOTA, json={"limits": {"vcpus": 8, "jobs": 0}})
    assert first.json()["limits"] == limits(http) == {"jobs": 0, "vcpus": 8}

    http.patch(QUOTA, json={"limits": {"jobs": None, "TPU_V2": 1_000_000_000}})
    assert limits(http) == {"TPU_V2": 1_000_000_000, "jobs": 3, "vcpus": 8}


def test_deleting_leaves_what_else_is_in_force(http: httpx.Client) -> None:
    http.patch(QUOTA, json={"limits": {"vcpus": 8, "jobs": 0}})
    for _ in range(2):
        answer = http.delete(QUOTA)
        assert (answer.status_code, answer.json()["limits"]) == (200, {"jobs": 3, "vcpus": 64})


@pytest.mark.parametrize("project", ["*", "-", "%2A"])
@pytest.mark.parametrize("region", ["*", "-", "%2a"])
def test_all_projects_and_regions_have_two_names(
    http: httpx.Client, project: str, region: str
) -> None:
    path = f"/footplate/v1/projects/{project}/locations/{region}/quota"

    answer = http.patch(path, json={"limits": {"vcpus": 1}}).json()

    assert answer["name"] == "projects/*/locations/*/quota"
    assert "used" not in answer
    assert limits(http) == {"jobs": 3, "vcpus": 1}


def test_the_list_has_each_that_is_named(http: httpx.Client) -> None:
    http.patch("/footplate/v1/projects/maps/locations/-/quota", json={"limits": {"jobs": 1}})

    listed = http.get("/footplate/v1/quotas").json()["quotas"]

    assert [(quota["name"], quota["limits"]) for quota in listed] == [
        ("projects/*/locations/*/quota", {"vcpus": 64}),
        ("projects/ads/locations/us-central1/quota", {"jobs": 3, "vcpus": 64}),
        ("projects/maps/locations/*/quota", {"jobs": 1, "vcpus": 64}),
    ]
    assert listed[1] == http.get(QUOTA).json()


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, ["limits"]),
        ({"limits": {}}, ["limits"]),
        ({"limits": [1]}, ["limits"]),
        ({"limits": None, "used": {}}, ["used", "limits"]),
        ({"limits": {"vcpus": "64", "gpus": 1}}, ["limits.gpus", "limits.vcpus"]),
        ({"limits": {"vcpus": 1.5}}, ["limits.vcpus"]),
        ({"limits": {"vcpus": -1, "VCPUS": 1}}, ["limits.VCPUS", "limits.vcpus"]),
        ({"limits": {"jobs": {}}}, ["limits.jobs"]),
    ],
)
def test_all_that_is_wrong_is_said_at_once(
    http: httpx.Client, body: object, fields: list[str]
) -> None:
    answer = http.patch(QUOTA, json=body)

    error = answer.json()["error"]
    assert (answer.status_code, error["status"]) == (400, "INVALID_ARGUMENT")
    told = [v["field"] for detail in error["details"] for v in detail["fieldViolations"]]
    assert told == fields
    assert limits(http) == {"jobs": 3, "vcpus": 64}


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
def test_a_place_that_cannot_be_is_refused(http: httpx.Client, method: str) -> None:
    body = {"limits": {"vcpus": 1}} if method == "PATCH" else None
    path = "/footplate/v1/projects/a%20b/locations/us-centrl1/quota"

    answer = http.request(method, path, json=body)

    assert answer.status_code == 400
    message = answer.json()["error"]["message"]
    assert message.startswith("project: 'a b' given; allowed: ")
    assert message.endswith("did you mean us-central1?")


def test_a_body_that_is_no_json_is_refused(http: httpx.Client) -> None:
    kind = {"content-type": "application/json"}
    assert http.patch(QUOTA, content=b"{", headers=kind).status_code == 400
    assert http.patch(QUOTA, content=b"limits=1").status_code == 415
    assert http.put(QUOTA, json={"limits": {"vcpus": 1}}).status_code == 405
