"""``footplate regions``, against the routes of the service."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest
from click.testing import CliRunner, Result

from footplate.api.app import create_app
from footplate.api.footplate_v1.regions import region_routes
from footplate.api.security import Access
from footplate.cli.main import main
from footplate.control.region_reports import RegionReports
from footplate.control.regions import Binding, Regions
from footplate.domain.sites import EngineMachines
from footplate.ports.engines import EngineReport
from tests.support.backend import FakeBackend
from tests.support.catalogue import built_in
from tests.support.http_server import serve
from tests.support.sites import make_engine_site, make_regions

FACTS = ("version: slurm 22.05.8", "queue: 1 job runs, 2 wait")
PROBLEM = "the partition 'gpu' has no nodes, or does not exist; `sinfo` lists partitions"


@pytest.fixture
def reports() -> list[EngineReport]:
    """The last one is what the engine says."""
    return [EngineReport(reachable=True, facts=FACTS)]


@pytest.fixture
def bound(reports: list[EngineReport]) -> dict[str, Binding]:
    machines = EngineMachines("Slurm", frozenset({"n1-standard-8"}), frozenset({"NVIDIA_TESLA_T4"}))
    site, where = make_engine_site(machines, replicas=8), "partition gpu"
    return {"europe-west4": Binding(FakeBackend(), site, "slurm", where, lambda: reports[-1])}


@pytest.fixture
def invoke(
    bound: dict[str, Binding], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Result]]:
    """Run ``footplate regions WORDS``; an exception that is no exit is raised."""
    monkeypatch.delenv("FOOTPLATE_TOKEN", raising=False)

    def run(*words: str) -> Result:
        result = CliRunner().invoke(main, ("regions", *words), prog_name="footplate")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    reports = RegionReports(Regions(make_regions().default, bound), built_in(), lambda: 0.0)
    with serve(create_app(region_routes(reports), Access(None, frozenset()))) as url:
        monkeypatch.setenv("FOOTPLATE_URL", url)
        yield run


def test_list_shows_what_regions_are_bound_to(invoke: Callable[..., Result]) -> None:
    result = invoke("list")

    assert result.exit_code == 0
    assert result.stdout == (
        "REGION        BACKEND  WHERE                 MACHINE_TYPES  ACCELERATORS     STATE\n"
        "europe-west4  slurm    Slurm, partition gpu  n1-standard-8  NVIDIA_TESLA_T4  answers\n"
        "*             local    this machine          *              *                here\n"
    )


def test_lists_json_has_the_engines_nodes_and_queue(invoke: Callable[..., Result]) -> None:
    first, others = json.loads(invoke("list", "--format=json").stdout)

    assert first == {
        "name": "europe-west4",
        "backend": "slurm",
        "where": "Slurm, partition gpu",
        "machineTypes": ["n1-standard-8"],
        "accelerators": ["NVIDIA_TESLA_T4"],
        "maxReplicas": 8,
        "reachable": True,
        "facts": list(FACTS),
        "problems": [],
    }
    assert others["machineTypes"] == ["*"]


def test_check_shows_what_the_engine_says_now(
    invoke: Callable[..., Result], reports: list[EngineReport]
) -> None:
    result = invoke("check")
    assert result.exit_code == 0
    assert result.stdout == (
        "europe-west4: Slurm, partition gpu, answers\n"
        "  version  slurm 22.05.8\n"
        "  queue    1 job runs, 2 wait\n"
    )

    reports.append(EngineReport(reachable=True, facts=FACTS, problems=(PROBLEM,)))
    result = invoke("check", "europe-west4")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1] == f"  problem: {PROBLEM}"
    (region,) = json.loads(invoke("check", "--format=json").stdout)
    assert region["problems"] == [PROBLEM]


def test_an_engine_that_does_not_answer(
    invoke: Callable[..., Result], reports: list[EngineReport]
) -> None:
    problem = "Slurm does not answer: sinfo can't be run"
    reports.append(EngineReport(reachable=False, problems=(problem,)))

    assert invoke("list").stdout.splitlines()[1].endswith("does not answer")
    assert invoke("check").exit_code == 1


def test_regions_of_this_machine(invoke: Callable[..., Result], bound: dict[str, Binding]) -> None:
    assert invoke("check", "us-central1").stdout == "us-central1: this machine, here\n"


def test_a_region_that_does_not_exist_is_named(invoke: Callable[..., Result]) -> None:
    result = invoke("check", "us-central")
    assert result.exit_code != 0
    assert "us-central" in result.stderr
    assert "did you mean us-central1" in result.stderr


class TestWithoutEngines:
    @pytest.fixture
    def bound(self) -> dict[str, Binding]:
        return {}

    def test_check_says_how_to_bind_one(self, invoke: Callable[..., Result]) -> None:
        result = invoke("check")
        assert (result.exit_code, result.stdout) == (0, "")
        assert "[[regions]] table in footplate.toml" in result.stderr
