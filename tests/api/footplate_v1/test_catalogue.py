"""The catalogue over HTTP."""

from __future__ import annotations

from pathlib import Path

import httpx

from footplate.api.app import create_app
from footplate.api.footplate_v1.catalogue import catalogue_routes
from footplate.api.security import Access
from footplate.catalogue import load_catalogue
from footplate.wire.json_text import JsonObject
from tests.support.http_server import serve

OWN = """\
[machine_types.rack]
vcpus = 32
memory_gb = 128.5
egress_gbps = 25
accelerators.NVIDIA_L4 = [1, 2]
[regions.home1]
zones.a = ["NVIDIA_L4"]
"""


def ask(file: Path | None = None) -> JsonObject:
    with serve(create_app(catalogue_routes(load_catalogue(file)), Access())) as url:
        found: JsonObject = httpx.get(f"{url}/footplate/v1/catalogue").raise_for_status().json()
    return found


def entry(document: JsonObject, kind: str, name: str) -> JsonObject:
    entries = document[kind]
    assert isinstance(entries, list)
    (found,) = [one for one in entries if isinstance(one, dict) and one["name"] == name]
    return found


def test_it_is_one_document(tmp_path: Path) -> None:
    document = ask()
    assert entry(document, "machineTypes", "complex_model_m_gpu") == {
        "name": "complex_model_m_gpu",
        "family": "LEGACY",
        "vcpus": 16,
        "memoryGb": 60,
        "like": "n1-standard-16",
        "included": {"accelerator": "NVIDIA_TESLA_K80", "count": 4},
    }
    assert entry(document, "scaleTiers", "STANDARD_1") == {
        "name": "STANDARD_1",
        "master": {"machineType": "n1-highcpu-8"},
        "worker": {"machineType": "n1-highcpu-8", "count": 4},
        "parameterServer": {"machineType": "n1-standard-4", "count": 3},
    }
    assert entry(document, "scaleTiers", "BASIC_GPU")["master"] == {
        "machineType": "n1-standard-8",
        "acceleratorType": "NVIDIA_TESLA_K80",
        "acceleratorCount": 1,
    }
    assert entry(document, "accelerators", "NVIDIA_TESLA_P100")["limits"] == [
        {"count": 1, "vcpus": 16, "memoryGb": 104},
        {"count": 2, "vcpus": 32, "memoryGb": 208},
        {"count": 4, "vcpus": 64, "memoryGb": 208},
    ]
    assert entry(document, "runtimes", "1.15")["python"] == "3.7"


def test_what_the_operator_added_is_marked(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(OWN)
    document = ask(file)
    assert entry(document, "machineTypes", "rack") == {
        "name": "rack",
        "family": "COMPUTE_ENGINE",
        "vcpus": 32,
        "memoryGb": 128.5,
        "accelerators": {"NVIDIA_L4": [1, 2]},
        "egressGbps": 25,
        "own": True,
    }
    assert entry(document, "regions", "home1") == {
        "name": "home1",
        "zones": {"home1-a": ["NVIDIA_L4"]},
        "accelerators": ["NVIDIA_L4"],
        "own": True,
    }
    assert "own" not in entry(document, "machineTypes", "n1-standard-4")
    regions = entry(document, "accelerators", "NVIDIA_L4")["regions"]
    assert isinstance(regions, list)
    assert "home1" in regions
