"""What the page on capacity makes of the answers of the service."""

from __future__ import annotations

from footplate.console.capacity_view import Amount, in_order, read_allowance, region_amounts
from footplate.wire.footplate_v1.quotas import Quota
from footplate.wire.json_text import JsonObject


def test_a_region_has_what_is_there_at_all() -> None:
    region = {"capacity": {"replicas": 4, "gpus": 0, "vcpus": 8}, "used": {"replicas": 5}}
    assert region_amounts(region) == (Amount("replicas", 5, 4), Amount("vcpus", 0, 8))
    assert region_amounts({"name": "europe-west4"}) == ()


def test_shares_stay_between_nothing_and_all() -> None:
    assert [Amount("jobs", *pair).percent for pair in ((1, 4), (9, 4), (0, 0), (3, 0))] == [
        25.0,
        100.0,
        0.0,
        100.0,
    ]
    assert (Amount("jobs", 5, 4).free, Amount("jobs", 1, None).free) == (0, None)


def test_an_allowance_says_who_set_its_limits() -> None:
    origin: JsonObject = {"source": "STORED", "project": "ads", "region": "us-central1"}
    general: JsonObject = {"source": "SETTINGS", "project": "*", "region": "*"}
    quota: JsonObject = {
        "project": "ads",
        "region": "us-central1",
        "limits": {"jobs": 20, "vcpus": 8},
        "origins": {"jobs": general, "vcpus": origin},
        "used": {"jobs": 1, "vcpus": 0, "NVIDIA_TESLA_T4": 2},
    }
    assert read_allowance(Quota.decode(quota)).amounts == (
        Amount("NVIDIA_TESLA_T4", 2, None),
        Amount("jobs", 1, 20, "the settings, for each project in each region"),
        Amount("vcpus", 0, 8, "footplate quotas set"),
    )


def test_of_all_projects_only_what_is_set_for_them_is_shown() -> None:
    everybody: JsonObject = {"source": "SETTINGS", "project": "*", "region": "*"}
    here: JsonObject = {"source": "SETTINGS", "project": "*", "region": "us-central1"}
    quota: JsonObject = {
        "project": "*",
        "region": "us-central1",
        "limits": {"jobs": 20, "vcpus": 8},
        "origins": {"jobs": everybody, "vcpus": here},
    }
    assert read_allowance(Quota.decode(quota)).amounts == (
        Amount("vcpus", None, 8, "the settings"),
    )


def test_the_queue_is_in_the_order_of_its_lines() -> None:
    def job(name: str, place: int, accelerator: str = "") -> dict[str, object]:
        pool = {"acceleratorType": accelerator} if accelerator else {}
        return {"name": name, "place": place, "machines": [pool], "createTime": name}

    queued = [job("d", 2, "T4"), job("c", 1, "T4"), job("b", 2), job("a", 1)]
    assert [each["name"] for each in in_order(queued)] == ["a", "b", "c", "d"]
