"""Packages in a prebuilt image of ml v1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from footplate.catalogue import load_catalogue
from footplate.domain.jobs import ClusterVariable, ContainerProgram, PythonProgram
from footplate.domain.submission import Submission
from footplate.wire.json_text import JsonObject
from footplate.wire.training_v1.submissions import read_submission
from tests.unit.wire.test_training_v1 import image

if TYPE_CHECKING:
    from pydantic import JsonValue

CATALOGUE = load_catalogue(None)
PYTORCH = "gcr.io/cloud-ml-public/training/pytorch-{}.1-9"
PACKAGED: JsonObject = {"packageUris": ["gs://b/trainer-0.1.tar.gz"], "pythonModule": "trainer.t"}


def submit(**changes: JsonValue) -> Submission:
    return read_submission({"jobId": "job_1", "trainingInput": image(**changes)}, "p", CATALOGUE)


def master(uri: str, **more: JsonValue) -> JsonValue:
    return {"imageUri": uri, **more}


def test_packages_run_in_the_runtime_that_a_prebuilt_image_names() -> None:
    uri = PYTORCH.format("gpu")
    found = submit(masterConfig=master(uri), args=["--epochs", "3"], **PACKAGED)
    assert not found.violations
    assert not [warning for warning in found.warnings if "has no effect" in warning]
    pool = found.spec.primary
    assert pool.program == PythonProgram(
        runtime=f"image@masterConfig.imageUri:{uri}",
        package_uris=("gs://b/trainer-0.1.tar.gz",),
        module="trainer.t",
        args=("--epochs", "3"),
    )
    assert pool.field == "trainingInput"
    assert found.spec.cluster_variables == frozenset(ClusterVariable)
    runtime = CATALOGUE.runtimes.resolve(pool.program.runtime, pool.field)
    assert (runtime.name, runtime.python) == ("PyTorch 1.9", "3.7")


def test_workers_have_the_masters_image_or_their_own() -> None:
    found = submit(
        scaleTier="CUSTOM",
        masterType="n1-standard-4",
        workerType="n1-standard-4",
        workerCount="2",
        parameterServerType="n1-standard-4",
        parameterServerCount="1",
        masterConfig=master(PYTORCH.format("gpu")),
        workerConfig=master(PYTORCH.format("cpu")),
        **PACKAGED,
    )
    assert not found.violations
    programs = [pool.program for pool in found.spec.pools]
    assert [p.runtime for p in programs if isinstance(p, PythonProgram)] == [
        f"image@masterConfig.imageUri:{PYTORCH.format('gpu')}",
        f"image@workerConfig.imageUri:{PYTORCH.format('cpu')}",
        f"image@masterConfig.imageUri:{PYTORCH.format('gpu')}",
    ]


def test_a_prebuilt_image_needs_packages_and_a_module() -> None:
    found = submit(masterConfig=master(PYTORCH.format("cpu")))
    assert {violation.field for violation in found.violations} == {
        "trainingInput.packageUris",
        "trainingInput.pythonModule",
    }


@pytest.mark.parametrize(
    "given",
    [
        {"masterConfig": master("gcr.io/p/i"), **PACKAGED},
        {"masterConfig": master(PYTORCH.format("cpu"), containerCommand=["sh"]), **PACKAGED},
        {"masterConfig": master("us-docker.pkg.dev/vertex-ai/training/pytorch-gpu.1-9")},
    ],
)
def test_other_images_are_containers(given: JsonObject) -> None:
    assert isinstance(submit(**given).spec.primary.program, ContainerProgram)


def test_a_prebuilt_image_of_vertex_serves_as_well() -> None:
    uri = "us-docker.pkg.dev/vertex-ai/training/pytorch-gpu.1-9:latest"
    found = submit(masterConfig=master(uri), **PACKAGED)
    program = found.spec.primary.program
    assert isinstance(program, PythonProgram)
    assert program.runtime == f"image@masterConfig.imageUri:{uri}"
