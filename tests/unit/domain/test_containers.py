"""Which prebuilt images run as containers, and how their packages get there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from footplate.domain.containers import gcs_path, with_containers
from footplate.domain.jobs import ContainerProgram, PythonProgram
from tests.support.catalogue import built_in
from tests.support.jobs import make_spec

IMAGE = "us-docker.pkg.dev/vertex-ai/training/pytorch-cpu.2-4.py310:latest"
PROGRAM = PythonProgram(f"image:{IMAGE}", ("gs://b/my pkg.tar.gz",), "trainer.task", ("--x", "1"))


def test_the_packages_are_installed_in_the_image_that_matches() -> None:
    spec = with_containers(
        make_spec(program=PROGRAM), ["us-docker.pkg.dev/vertex-ai/training/*"], built_in().runtimes
    )
    install = "python3 -m pip install --quiet --user '/gcs/b/my pkg.tar.gz'"
    script = f'{install} && exec python3 -m trainer.task "$@"'
    assert spec.primary.program == ContainerProgram(IMAGE, ("sh", "-c", script, "sh"), ("--x", "1"))


def test_others_stay_runtimes() -> None:
    spec = make_spec(program=PROGRAM)
    assert with_containers(spec, [], built_in().runtimes) is spec
    assert with_containers(spec, ["gcr.io/*"], built_in().runtimes) is spec
    version = make_spec(program=replace(PROGRAM, runtime="version:2.21/"))
    assert with_containers(version, ["*"], built_in().runtimes) is version
    reducer = make_spec(program=replace(PROGRAM, runtime="image:footplate/reductionserver"))
    assert with_containers(reducer, ["*"], built_in().runtimes) is reducer


def test_a_command_in_a_prebuilt_image_runs_in_the_runtime() -> None:
    container = ContainerProgram(IMAGE, ("python3", "-c", "import torch"), ("--x",))
    spec = with_containers(make_spec(program=container), [], built_in().runtimes)
    program = spec.primary.program
    assert program == PythonProgram(
        f"image@imageUri:{IMAGE}", (), "", ("--x",), ("python3", "-c", "import torch")
    )
    assert built_in().runtimes.resolve(program.runtime, "f").python == "3.10"
    assert with_containers(spec, ["*"], built_in().runtimes) is spec


@pytest.mark.parametrize(
    ("container", "patterns"),
    [
        (ContainerProgram(IMAGE, ("true",)), ["*/vertex-ai/*"]),
        (ContainerProgram(IMAGE, None, ("--x",)), []),
        (ContainerProgram("gcr.io/p/trainer:1", ("true",)), []),
        (ContainerProgram(IMAGE.replace("2-4", "9-9"), ("true",)), []),
    ],
)
def test_other_containers_stay_containers(container: ContainerProgram, patterns: list[str]) -> None:
    spec = make_spec(program=container)
    assert with_containers(spec, patterns, built_in().runtimes) is spec


def test_a_bucket_is_a_folder_and_a_path_stays() -> None:
    assert gcs_path("gs://b/out/") == "/gcs/b/out/"
    assert gcs_path("/data/out") == "/data/out"
