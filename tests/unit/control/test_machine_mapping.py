"""What is said of machines that the engine of a region has no name for."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from footplate.control.submission_checks import mapping_violations
from footplate.domain.jobs import JobSpec, MachineSpec
from footplate.domain.names import TrainingJobName
from footplate.domain.sites import EngineMachines, Site
from footplate.domain.submission import Submission
from tests.support.catalogue import built_in
from tests.support.jobs import make_spec
from tests.support.sites import make_engine_site, make_site

T4 = "NVIDIA_TESLA_T4"
SOME = EngineMachines("Slurm", frozenset({"n1-standard-8"}), frozenset({T4}))


def spec_of(*machines: MachineSpec, field: str = "jobSpec.workerPoolSpecs[{}].x") -> JobSpec:
    spec = make_spec(workers=len(machines) - 1)
    pools = (
        replace(pool, machine=machine, field=field.format(index))
        for index, (pool, machine) in enumerate(zip(spec.pools, machines, strict=True))
    )
    return replace(spec, pools=tuple(pools))


def wrongs(spec: JobSpec, site: Site, request: object = None) -> list[tuple[str, str]]:
    name = TrainingJobName("demo", "job_1")
    submission = Submission(name, "", spec, json.dumps(request or {}))
    return [(v.field, v.description) for v in mapping_violations(submission, site, built_in())]


def test_what_is_mapped_is_taken() -> None:
    spec = spec_of(MachineSpec("n1-standard-8", T4, 1), MachineSpec("n1-standard-8"))
    assert wrongs(spec, make_engine_site(SOME)) == []
    anything = EngineMachines("Slurm", None)
    assert wrongs(spec_of(MachineSpec("n1-highmem-4")), make_engine_site(anything)) == []
    assert wrongs(spec_of(MachineSpec("n1-highmem-4", T4, 1)), make_site()) == []


def test_each_field_of_a_worker_pool_is_named() -> None:
    machines = MachineSpec("n1-standard-8", "NVIDIA_TESLA_K80", 1), MachineSpec("n1-standard-4")
    region = spec_of(*machines).region

    def say(given: str, allowed: str, table: str) -> str:
        return (
            f"{given!r} given, which region {region} on Slurm doesn't offer; allowed: {allowed}; "
            f"the operator can add it to the region's {table}"
        )

    assert wrongs(spec_of(*machines), make_engine_site(SOME)) == [
        (
            "jobSpec.workerPoolSpecs[0].machineSpec.acceleratorType",
            say("NVIDIA_TESLA_K80", T4, "accelerators"),
        ),
        (
            "jobSpec.workerPoolSpecs[1].machineSpec.machineType",
            say("n1-standard-4", "n1-standard-8", "machines"),
        ),
    ]


@pytest.mark.parametrize(
    ("request_", "fields"),
    [
        ({"trainingInput": {"scaleTier": "BASIC"}}, ["trainingInput.scaleTier"]),
        (
            {"trainingInput": {"scaleTier": "CUSTOM"}},
            ["trainingInput.masterType", "trainingInput.masterConfig.acceleratorConfig.type"],
        ),
    ],
)
def test_fields_of_ml_v1(request_: object, fields: list[str]) -> None:
    spec = spec_of(MachineSpec("n1-standard-4", "NVIDIA_TESLA_K80", 1), field="trainingInput")
    found = [field for field, _ in wrongs(spec, make_engine_site(SOME), request_)]
    assert list(dict.fromkeys(found)) == fields
