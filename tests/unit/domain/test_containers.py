"""Which prebuilt images run as containers, and how their packages get there."""

from __future__ import annotations

from dataclasses import replace

from footplate.domain.containers import gcs_path, with_containers
from footplate.domain.jobs import ContainerProgram, PythonProgram
from tests.support.jobs import make_spec

IMAGE = "us-docker.pkg.dev/vertex-ai/training/pytorch-cpu.2-4.py310:latest"
PROGRAM = PythonProgram(f"image:{IMAGE}", ("gs://b/my pkg.tar.gz",), "trainer.task", ("--x", "1"))


def test_the_packages_are_installed_in_the_image_that_matches() -> None:
    spec = with_containers(make_spec(program=PROGRAM), ["us-docker.pkg.dev/vertex-ai/training/*"])
    install = "python3 -m pip install --quiet --user '/gcs/b/my pkg.tar.gz'"
    script = f'{install} && exec python3 -m trainer.task "$@"'
    assert spec.primary.program == ContainerProgram(IMAGE, ("sh", "-c", script, "sh"), ("--x", "1"))


def test_others_stay_runtimes() -> None:
    spec = make_spec(program=PROGRAM)
    assert with_containers(spec, []) is spec
    assert with_containers(spec, ["gcr.io/*"]) is spec
    version = make_spec(program=replace(PROGRAM, runtime="version:2.21/"))
    assert with_containers(version, ["*"]) is version
    reducer = make_spec(program=replace(PROGRAM, runtime="image:footplate/reductionserver"))
    assert with_containers(reducer, ["*"]) is reducer


def test_a_bucket_is_a_folder_and_a_path_stays() -> None:
    assert gcs_path("gs://b/out/") == "/gcs/b/out/"
    assert gcs_path("/data/out") == "/data/out"
