"""What the catalogue has, as tables and as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from footplate.catalogue import load_catalogue


@pytest.mark.usefixtures("served")
def test_machine_types(invoke: Callable[..., Result]) -> None:
    result = invoke("catalogue", "machine-types")
    assert (result.stdout, result.stderr) == (
        (
            "NAME       VCPUS  MEMORY_GB  ACCELERATORS\n"
            "rack       32     128        NVIDIA_L4: 1 2\n"
            "bench      4      7.5\n"
            "old_bench  4      7.5        NVIDIA_TESLA_T4: +1\n"
        ),
        "",
    )


@pytest.mark.usefixtures("served")
@pytest.mark.parametrize(
    ("option", "names"),
    [
        ("--accelerator=nvidia-l4", "rack\n"),
        ("--accelerator=NVIDIA_TESLA_T4", "old_bench\n"),
        ("--family=legacy", "old_bench\n"),
        ("--family=COMPUTE_ENGINE", "rack\nbench\n"),
    ],
)
def test_machine_types_can_be_chosen(
    option: str, names: str, invoke: Callable[..., Result]
) -> None:
    assert invoke("catalogue", "machine-types", option, "--format=value(name)").stdout == names


@pytest.mark.usefixtures("served")
def test_nothing_found_is_said(invoke: Callable[..., Result]) -> None:
    result = invoke("catalogue", "machine-types", "--family=TPU")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "Listed 0 items.\n")


@pytest.mark.usefixtures("served")
def test_an_unknown_accelerator_gets_the_nearest(invoke: Callable[..., Result]) -> None:
    result = invoke("catalogue", "machine-types", "--accelerator=nvidia-l5")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        "Error: there is no 'NVIDIA_L5' in the catalogue; did you mean NVIDIA_L4 or "
        "NVIDIA_TESLA_T4?\n"
    )


@pytest.mark.usefixtures("served")
def test_machine_types_of_custom_jobs_are_no_legacy_ones(invoke: Callable[..., Result]) -> None:
    assert invoke("ai", "custom-jobs", "machine-types").stdout == (
        "NAME   VCPUS  MEMORY_GB  ACCELERATORS\n"
        "rack   32     128        NVIDIA_L4: 1 2\n"
        "bench  4      7.5\n"
    )


@pytest.mark.usefixtures("served")
def test_accelerators(invoke: Callable[..., Result]) -> None:
    assert invoke("catalogue", "accelerators").stdout == (
        "NAME             KIND  MEMORY_GB  REGIONS\n"
        "NVIDIA_L4        GPU   24         1\n"
        "NVIDIA_TESLA_T4  GPU   16         1\n"
    )
    assert invoke("catalogue", "accelerators", "--region=home1").stdout == (
        "NAME             KIND  MEMORY_GB  ZONES\n"
        "NVIDIA_L4        GPU   24         home1-a, home1-b\n"
        "NVIDIA_TESLA_T4  GPU   16         home1-b\n"
    )
    assert invoke("catalogue", "accelerators", "--region=office1").stderr == "Listed 0 items.\n"
    assert "did you mean home1?" in invoke("catalogue", "accelerators", "--region=home2").stderr


@pytest.mark.usefixtures("served")
def test_regions(invoke: Callable[..., Result]) -> None:
    assert invoke("catalogue", "regions").stdout == (
        "NAME     ZONES             ACCELERATORS\n"
        "home1    home1-a, home1-b  NVIDIA_L4, NVIDIA_TESLA_T4\n"
        "office1  office1-a\n"
    )


@pytest.mark.usefixtures("served")
def test_regions_with_a_zone_that_has_several_accelerators(invoke: Callable[..., Result]) -> None:
    both = ("--accelerator=nvidia-l4", "--accelerator=nvidia-tesla-t4")
    assert invoke("catalogue", "regions", *both).stdout == (
        "NAME   ZONES    ACCELERATORS\nhome1  home1-b  NVIDIA_L4, NVIDIA_TESLA_T4\n"
    )


@pytest.mark.usefixtures("served")
def test_scale_tiers(invoke: Callable[..., Result]) -> None:
    assert invoke("catalogue", "scale-tiers").stdout == (
        "NAME        MASTER              WORKERS    PARAMETER_SERVERS\n"
        "BASIC       bench\n"
        "STANDARD_1  rack + 2 NVIDIA_L4  3 x bench\n"
    )
    found = json.loads(invoke("catalogue", "scale-tiers", "--format=json").stdout)
    assert found[1]["worker"] == {"machineType": "bench", "count": 3}


def test_without_a_server_it_is_the_built_in_one(
    alone: Path, invoke: Callable[..., Result]
) -> None:
    result = invoke("catalogue", "regions", "--format=value(name)")
    assert result.stdout.split() == list(load_catalogue().regions)
    assert result.stderr == "No server runs; this list comes from the built-in catalogue.\n"


def test_without_a_server_it_is_that_of_the_settings(
    alone: Path, own: Path, invoke: Callable[..., Result]
) -> None:
    (alone / "footplate.toml").write_text(f"catalogue = '{own}'\n")
    result = invoke("catalogue", "regions", "--format=value(name)")
    assert result.stdout == "home1\noffice1\n"
    assert (
        result.stderr
        == f"No server runs; this list comes from the built-in catalogue with {own}.\n"
    )


def test_a_server_that_was_named_has_to_answer(alone: Path, invoke: Callable[..., Result]) -> None:
    result = invoke("catalogue", "regions", "--url=http://127.0.0.1:1")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "no Footplate server answers at http://127.0.0.1:1" in result.stderr
