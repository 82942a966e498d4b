"""What of a bucket a job names."""

from __future__ import annotations

from dataclasses import replace

import pytest

from footplate.domain.jobs import ContainerProgram, Directory, JobSpec, PythonProgram
from footplate.domain.named_objects import find_prefixes
from tests.support.jobs import make_spec


def spec_with(*args: str) -> JobSpec:
    program = PythonProgram("version:2.21/", (), "trainer.task", args)
    return replace(make_spec(program=program), directories=(), job_dir=None, data=())


@pytest.mark.parametrize(
    ("argument", "prefixes"),
    [
        ("gs://data/train/x.csv", ("train/x.csv",)),
        ("/gcs/data/train/x.csv", ("train/x.csv",)),
        ("--train=gs://data/train/,/gcs/data/eval", ("eval", "train")),
        ("gs://data/part-*.csv", ("part-",)),
        ("gs://data/${NAME}/x", ("",)),
        ("gs://data", ("",)),
        ("gs://data-two/x", ()),
        ("gs://other/data/x", ()),
        ("data/x", ()),
        ("see '/gcs/data/a b'", ("a",)),
    ],
)
def test_an_argument_names_objects(argument: str, prefixes: tuple[str, ...]) -> None:
    assert find_prefixes(spec_with(argument), "data") == prefixes


def test_what_another_prefix_covers_is_named_once() -> None:
    spec = spec_with("gs://data/a/b", "gs://data/a", "gs://data/c", "gs://data/a/b/c")
    assert find_prefixes(spec, "data") == ("a", "c")
    assert find_prefixes(spec_with("gs://data/a", "/gcs/data"), "data") == ("",)


def test_directories_variables_and_containers_name_objects_too() -> None:
    spec = spec_with()
    pool = replace(
        spec.pools[0],
        program=ContainerProgram("image", ("cat", "gs://data/command"), None),
        environment=(("TABLE", "gs://data/variable"),),
    )
    spec = replace(
        spec,
        pools=(pool, *spec.pools[1:]),
        directories=(Directory("AIP_MODEL_DIR", "gs://data/out/model/"),),
        data=(("AIP_TRAINING_DATA_URI", "gs://data/files/training-*.csv"),),
        job_dir="gs://data/job",
    )
    found = find_prefixes(spec, "data")
    assert found == ("command", "files/training-", "job", "out/model", "variable")
