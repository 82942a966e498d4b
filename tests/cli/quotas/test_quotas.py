"""``footplate quotas``, against the service's own quotas."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from click.testing import Result

from footplate.domain.quotas import Quota
from tests.cli.quotas.conftest import Quotas

ADS = ("--project=ads", "--region=us-central1")


def test_set_says_what_is_in_force_then(invoke: Callable[..., Result], quotas: Quotas) -> None:
    quotas.held["ads", "us-central1"] = {"NVIDIA_TESLA_T4": 2, "vcpus": 8, "jobs": 1}

    result = invoke("set", "nvidia-tesla-t4=4", *ADS)

    assert (result.exit_code, result.stderr) == (0, "In force for project ads in us-central1:\n")
    assert result.stdout == (
        "RESOURCE         LIMIT  USED  SOURCE    SET FOR PROJECT  IN REGION\n"
        "NVIDIA_TESLA_T4  4      2     STORED    ads              us-central1\n"
        "jobs             none   1\n"
        "vcpus            96     8     SETTINGS  *                *\n"
    )
    assert quotas.store.list() == (Quota("ads", "us-central1", {"NVIDIA_TESLA_T4": 4}),)


def test_set_takes_several_and_leaves_others(invoke: Callable[..., Result], quotas: Quotas) -> None:
    invoke("set", "vcpus=1", "jobs=2", *ADS)
    invoke("set", "jobs=3", "TPU_V2=0", *ADS)
    limits = {"vcpus": 1, "jobs": 3, "TPU_V2": 0}
    assert quotas.store.list() == (Quota("ads", "us-central1", limits),)


def test_set_is_for_every_region_if_none_is_named(
    invoke: Callable[..., Result], quotas: Quotas
) -> None:
    result = invoke("set", "jobs=3")
    assert quotas.store.list() == (Quota("demo", "*", {"jobs": 3}),)
    assert result.stderr == (
        "In force for project demo in any region, unless a project or region has its own limits:\n"
    )
    assert "jobs      3            STORED    demo             *\n" in result.stdout


def test_what_is_over_a_lowered_limit_is_said(
    invoke: Callable[..., Result], quotas: Quotas
) -> None:
    quotas.held["ads", "us-central1"] = {"NVIDIA_TESLA_T4": 6, "jobs": 1}
    result = invoke("set", "NVIDIA_TESLA_T4=4", "jobs=1", *ADS)
    _, *told = result.stderr.splitlines()
    hint = "Running jobs continue; other jobs wait until enough is free."
    assert told == [f"6 NVIDIA_TESLA_T4 in use, which is more than the limit. {hint}"]


@pytest.mark.parametrize("word", ["vcpus", "vcpus=", "vcpus=many", "=", "vcpus=1.5", "4"])
def test_set_wants_a_resource_and_a_number(invoke: Callable[..., Result], word: str) -> None:
    result = invoke("set", word, *ADS)
    assert result.exit_code == 2
    assert f"{word!r} given; allowed: RESOURCE=NUMBER, such as vcpus=64" in result.stderr


def test_what_the_service_refuses_is_told(invoke: Callable[..., Result], quotas: Quotas) -> None:
    result = invoke("set", "gpus=4", "vcpus=-1", "--project=ads", "--region=us-centrl1")
    assert result.exit_code == 1
    for told in (
        "Error: 3 things are wrong:\n- ",
        "\n- region: 'us-centrl1' given; allowed: * or a region of the catalogue: did you mean",
        (
            "\n- limits.gpus: quotas have no such resource; allowed: vcpus, jobs or an "
            "accelerator: there are 2"
        ),
        "\n- limits.vcpus: -1 given; allowed: a whole number from 0 to 1000000000",
    ):
        assert told in result.stderr
    assert quotas.store.list() == ()


@pytest.mark.parametrize("words", [("vcpus=1", "vcpus=2"), ("vcpus=1", "VCPUS=1")])
def test_a_resource_is_given_once(invoke: Callable[..., Result], words: tuple[str, str]) -> None:
    result = invoke("set", *words)
    assert result.exit_code != 0
    assert "is given twice" in result.stderr


def test_unset_says_what_is_in_force_then(invoke: Callable[..., Result], quotas: Quotas) -> None:
    quotas.store.change("ads", "us-central1", {"vcpus": 1, "jobs": 2, "TPU_V2": 3})
    result = invoke("unset", "vcpus", "tpu-v2", *ADS)
    assert result.stdout == (
        "RESOURCE  LIMIT  USED  SOURCE    SET FOR PROJECT  IN REGION\n"
        "jobs      2      0     STORED    ads              us-central1\n"
        "vcpus     96     0     SETTINGS  *                *\n"
    )
    assert quotas.store.list() == (Quota("ads", "us-central1", {"jobs": 2}),)


def test_unset_takes_all_if_asked(invoke: Callable[..., Result], quotas: Quotas) -> None:
    quotas.store.change("ads", "us-central1", {"vcpus": 1, "jobs": 2})
    quotas.store.change("ads", "*", {"vcpus": 1})
    assert invoke("unset", "--all", *ADS).exit_code == 0
    assert quotas.store.list() == (Quota("ads", "*", {"vcpus": 1}),)


def test_unset_says_what_it_cannot_take(invoke: Callable[..., Result], quotas: Quotas) -> None:
    quotas.store.change("maps", "europe-west4", {"vcpus": 1})
    there = ("--project=maps", "--region=europe-west4")
    stays = "A table [[quotas]] of footplate.toml still limits jobs; change the limit there."
    assert stays not in invoke("unset", "vcpus", *there).stderr
    assert stays in invoke("unset", "JOBS", *there).stderr
    assert stays in invoke("unset", "--all", *there).stderr


@pytest.mark.parametrize("words", [(), ("vcpus", "--all")])
def test_unset_wants_to_know_what(invoke: Callable[..., Result], words: tuple[str, ...]) -> None:
    result = invoke("unset", *words)
    assert result.exit_code == 2
    assert "name the resources, or give --all" in result.stderr


def test_list_has_each_limit_once(invoke: Callable[..., Result], quotas: Quotas) -> None:
    quotas.store.change("ads", "us-central1", {"NVIDIA_TESLA_T4": 4, "jobs": 2})
    quotas.held["ads", "us-central1"] = {"NVIDIA_TESLA_T4": 2, "vcpus": 8, "jobs": 1}
    assert invoke("list").stdout == (
        "PROJECT  REGION        RESOURCE         LIMIT  USED  SOURCE\n"
        "*        *             vcpus            96           SETTINGS\n"
        "ads      us-central1   NVIDIA_TESLA_T4  4      2     STORED\n"
        "ads      us-central1   jobs             2      1     STORED\n"
        "maps     europe-west4  jobs             2      0     SETTINGS\n"
    )


def test_list_may_be_of_one_project_or_region(
    invoke: Callable[..., Result], quotas: Quotas
) -> None:
    quotas.store.change("maps", "*", {"jobs": 4})
    projects = "--format=value(project,region)"
    assert invoke("list", "--project=maps", projects).stdout == "maps\t*\nmaps\teurope-west4\n"
    assert invoke("list", "--region=*", projects).stdout == "*\t*\nmaps\t*\n"
    assert invoke("list", "--project=ads").stderr == (
        "Listed 0 items.\n  set one: footplate quotas set vcpus=64 --project=PROJECT\n"
    )


def test_list_gives_json(invoke: Callable[..., Result]) -> None:
    assert json.loads(invoke("list", "--project=maps", "--format=json").stdout) == [
        {
            "project": "maps",
            "region": "europe-west4",
            "resource": "jobs",
            "limit": 2,
            "used": 0,
            "source": "SETTINGS",
        }
    ]


def test_describe_gives_what_scripts_want(invoke: Callable[..., Result], quotas: Quotas) -> None:
    quotas.held["ads", "us-central1"] = {"vcpus": 8}
    assert invoke(
        "describe", "--project=ads", "--format=value(limits.vcpus,used.vcpus)"
    ).stdout == ("96\t8\n")
    document = json.loads(invoke("describe", *ADS, "--format=json").stdout)
    assert document["name"] == "projects/ads/locations/us-central1/quota"


class TestWithoutQuotas:
    @pytest.fixture
    def configured(self) -> tuple[Quota, ...]:
        return ()

    def test_describe_says_so(self, invoke: Callable[..., Result]) -> None:
        nothing = "No limits for project ads in us-central1, and the project's jobs use nothing.\n"
        assert invoke("describe", *ADS).stderr == nothing
        everybody = invoke("describe", "--project=*", "--region=*")
        assert everybody.stderr == "No limits for any project in any region.\n"

    def test_list_says_how_to_begin(self, invoke: Callable[..., Result]) -> None:
        assert "set one: footplate quotas set vcpus=64" in invoke("list").stderr
