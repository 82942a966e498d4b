"""The regions, as the clients of both faces ask for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from footplate.catalogue import load_catalogue
from footplate.wire.training_v1.enums import AcceleratorType

if TYPE_CHECKING:
    import httpx

REGIONS = load_catalogue().regions


def test_all_regions_are_listed(http: httpx.Client) -> None:
    found = http.get("/v1/projects/demo/locations").json()["locations"]
    assert [location["locationId"] for location in found] == list(REGIONS)


def test_ml_says_which_accelerators_a_region_has(http: httpx.Client) -> None:
    found = http.get("/v1/projects/demo/locations/us-central1").json()
    (capability,) = found.pop("capabilities")
    name = "projects/demo/locations/us-central1"
    assert found == {"name": name, "locationId": "us-central1"}
    assert capability["type"] == "TRAINING"
    here = REGIONS["us-central1"].accelerators
    assert set(capability["availableAccelerators"]) == here & set(AcceleratorType.__members__)


def test_ml_names_no_accelerator_that_it_has_no_name_for(http: httpx.Client) -> None:
    assert "NVIDIA_L4" in REGIONS["us-central1"].accelerators
    for location in http.get("/v1/projects/demo/locations").json()["locations"]:
        for capability in location["capabilities"]:
            named = capability.get("availableAccelerators", [])
            assert set(named) <= set(AcceleratorType.__members__)


def test_a_region_without_accelerators_trains_all_the_same(http: httpx.Client) -> None:
    found = http.get("/v1/projects/demo/locations/africa-south1").json()
    assert found["capabilities"] == [{"type": "TRAINING"}]


@pytest.mark.parametrize("path", ["", "/us-central1"])
def test_clients_that_parse_strictly_see_only_what_they_know(path: str, http: httpx.Client) -> None:
    found = http.get(f"/ui/projects/demo/locations{path}").json()
    for location in found.get("locations", [found]):
        assert location.keys() == {"name", "locationId"}


def test_an_unknown_region_gets_the_nearest(http: httpx.Client) -> None:
    answer = http.get("/v1/projects/demo/locations/us-centrall1")
    assert answer.status_code == 404
    message = answer.json()["error"]["message"]
    assert message.startswith("there is no location 'us-centrall1' here; did you mean us-central1")
