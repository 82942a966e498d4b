"""Jobs whose runtime needs a Python that the machine lacks."""

from __future__ import annotations

import pytest

from footplate.control.submission_checks import interpreter_violations
from footplate.domain.jobs import ContainerProgram, PythonProgram
from tests.support.catalogue import built_in
from tests.support.jobs import make_spec

IMAGE = "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-11:latest"


def lacks_37(version: str) -> str | None:
    return "this machine has only 3.11; install it" if version == "3.7" else None


@pytest.mark.parametrize(
    ("runtime", "place"),
    [
        ("version:2.11/3.7", "runtimeVersion"),
        ("version:/3.7", "pythonVersion"),
        (f"image:{IMAGE}", "executorImageUri"),
        (f"image@masterConfig.imageUri:{IMAGE}", "masterConfig.imageUri"),
    ],
)
def test_it_is_said_where_the_runtime_is_named(runtime: str, place: str) -> None:
    spec = make_spec(program=PythonProgram(runtime, (), "m"))
    (found,) = interpreter_violations(spec, built_in().runtimes, lacks_37)
    assert found.field == f"{spec.primary.field}.{place}"
    assert found.description == (
        "runtime 2.11 needs Python 3.7: this machine has only 3.11; install it"
    )


@pytest.mark.parametrize(
    "program",
    [
        PythonProgram("version:2.21/3.11", (), "m"),
        PythonProgram("version:/", (), "m"),
        PythonProgram("version:99.9/3.7", (), "m"),
        ContainerProgram(IMAGE),
    ],
)
def test_all_else_passes(program: PythonProgram) -> None:
    assert not list(
        interpreter_violations(make_spec(program=program), built_in().runtimes, lacks_37)
    )
