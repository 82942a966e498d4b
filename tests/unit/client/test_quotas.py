"""What the client makes of answers about quotas."""

from __future__ import annotations

import pytest

from footplate.client.service import Service
from footplate.domain.errors import UnknownError
from footplate.wire.footplate_v1.quotas import Origin, Quota, ResourceQuota
from footplate.wire.json_text import JsonObject
from tests.support.fake_service import Answer, FakeService

QUOTA = "/footplate/v1/projects/ads/locations/us-central1/quota"


def test_resources_are_limits_and_what_is_used() -> None:
    origin: JsonObject = {"project": "*", "region": "*", "source": "STORED"}
    quota = Quota.decode({"limits": {"jobs": 1}, "used": {"vcpus": 8}, "origins": {"jobs": origin}})
    assert quota.resources() == (
        ResourceQuota("jobs", 1, None, Origin(source="STORED", project="*", region="*")),
        ResourceQuota("vcpus", None, 8, Origin()),
    )


def test_an_empty_answer_is_a_quota_without_limits() -> None:
    assert Quota.decode({}).resources() == ()


@pytest.mark.parametrize("number", ["4", 1.5, True, {}])
def test_what_is_no_number_is_no_answer_of_footplate(number: str | float) -> None:
    with pytest.raises(UnknownError, match=r"limits\.jobs: "):
        Quota.decode({"limits": {"jobs": number}})


def test_the_calls_are_those_of_the_api() -> None:
    with FakeService() as fake, Service(fake.url) as service:
        everywhere = "/footplate/v1/projects/*/locations/*/quota"
        for method, path in (("GET", QUOTA), ("PATCH", QUOTA), ("DELETE", everywhere)):
            fake.refusals[method, path] = Answer(body={"project": "ads", "region": "us-central1"})
        fake.refusals["GET", "/footplate/v1/quotas"] = Answer(body={"quotas": [{"project": "a"}]})

        assert service.quotas.get("ads", "us-central1").project == "ads"
        service.quotas.change("ads", "us-central1", {"jobs": 4, "vcpus": None})
        assert fake.last("PATCH").json() == {"limits": {"jobs": 4, "vcpus": None}}
        service.quotas.remove("*", "*")
        assert [quota.project for quota in service.quotas.list()] == ["a"]
