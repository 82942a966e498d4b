"""How the programs of built-in algorithms are started."""

from __future__ import annotations

from dataclasses import replace

import pytest

from footplate.domain import algorithms, program_arguments
from footplate.domain.jobs import PythonProgram
from tests.support.jobs import make_spec

DATA = ("--training_data_path", "gs://b/x.csv", "--validation_data_path=gs://c/d/*.csv")


def path(uri: str) -> str:
    return f"/buckets/{uri.removeprefix('gs://')}"


def test_arguments_stay_and_the_folders_of_their_buckets_follow() -> None:
    program = algorithms.program("boosted_trees", (*DATA, "--eta=0.1"))
    spec = replace(make_spec(program=program), job_dir="gs://d/out")

    assert program_arguments.arguments(spec, program, str, path) == (
        "boosted_trees",
        *DATA,
        "--eta=0.1",
        "--folder=gs://b=/buckets/b",
        "--folder=gs://c=/buckets/c",
        "--folder=gs://d=/buckets/d",
        "--job-dir",
        "gs://d/out",
    )


def test_a_path_of_the_machine_stays_as_it_is() -> None:
    program = algorithms.program("boosted_trees", ("--training_data_path=/data/x.csv",))
    spec = replace(make_spec(program=program), job_dir="/data/out")

    assert program_arguments.arguments(spec, program, str, path)[1:3] == (
        "--training_data_path=/data/x.csv",
        "--job-dir",
    )


def test_the_data_of_a_program() -> None:
    program = algorithms.program("boosted_trees", (*DATA, "--eta=0.1"))
    assert list(algorithms.data_uris(program)) == [(1, "gs://b/x.csv"), (2, "gs://c/d/*.csv")]
    own = PythonProgram("version:2.21/", (), "trainer.task", DATA)
    assert list(algorithms.data_uris(own)) == []


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        ("gcr.io/cloud-ml-algos/boosted_trees:latest", "boosted_trees"),
        ("gcr.io/cloud-ml-algos/never_heard_of", "never_heard_of"),
        ("gcr.io/cloud-ml-algos/a/b", None),
        ("gcr.io/cloud-ml-algos/", None),
        ("eu.gcr.io/cloud-ml-algos/boosted_trees", None),
        ("gcr.io/cloud-ml-algos-of-mine/boosted_trees", None),
        ("", None),
        (None, None),
    ],
)
def test_images(uri: str | None, name: str | None) -> None:
    assert algorithms.image_name(uri) == name
