"""Jobs that are container images, where none can run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from footplate.control.images import violations
from footplate.domain.jobs import ContainerProgram, JobSpec
from footplate.domain.sites import EngineMachines
from tests.support.container_engine import FakeContainerEngine
from tests.support.jobs import make_spec

IMAGE = "gcr.io/p/i:1"


def of_an_image() -> JobSpec:
    spec = make_spec()
    pools = (
        replace(pool, program=ContainerProgram(IMAGE), field="jobSpec.workerPoolSpecs[0]")
        for pool in spec.pools
    )
    return replace(spec, pools=tuple(pools), region="europe-west4")


def wrongs(
    spec: JobSpec, engine: FakeContainerEngine, cluster: EngineMachines | None = None
) -> list[tuple[str, str]]:
    return [(v.field, v.description) for v in violations(spec, engine, cluster)]


def test_an_engine_of_this_machine_takes_images() -> None:
    assert wrongs(of_an_image(), FakeContainerEngine()) == []


def test_a_region_of_a_cluster_takes_packages_alone() -> None:
    slurm = EngineMachines("Slurm")
    ((field, said),) = wrongs(of_an_image(), FakeContainerEngine(), slurm)
    assert field == "jobSpec.workerPoolSpecs[0].imageUri"
    assert said.startswith(
        f"{IMAGE} given, which is a container image: region europe-west4 runs jobs on"
    )
    assert "set containers = true in the region's [[regions]] table" in said
    assert wrongs(make_spec(), FakeContainerEngine(), slurm) == []


def test_a_region_whose_nodes_run_containers_needs_no_engine_here() -> None:
    slurm = EngineMachines("Slurm", runs_containers=True)
    assert wrongs(of_an_image(), FakeContainerEngine("there is none"), slurm) == []


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            None,
            ("Set a command: then the job runs in Footplate's runtime, without a container engine"),
        ),
        (
            ("true",),
            (
                "Footplate has no runtime for this prebuilt image; another version of the "
                "image may have one"
            ),
        ),
    ],
)
def test_a_prebuilt_image_may_need_no_engine(command: tuple[str, ...] | None, said: str) -> None:
    image = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.9-9:latest"
    spec = make_spec(program=ContainerProgram(image, command))
    ((_, text),) = wrongs(spec, FakeContainerEngine("there is none"))
    assert text.endswith(f"there is none. {said}")
