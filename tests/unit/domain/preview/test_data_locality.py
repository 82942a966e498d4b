"""Jobs far from their data."""

from __future__ import annotations

from dataclasses import replace

import pytest

from footplate.domain.jobs import ContainerProgram, Directory, JobSpec, Program, PythonProgram
from footplate.domain.preview.data_locality import MAX_BUCKETS, advise_locality
from tests.support.jobs import make_spec

LOCATIONS = {"here": "US-CENTRAL1", "america": "US", "europe": "EUROPE-WEST4", "both": "EUR4"}
PACKAGES = PythonProgram("version:2.21/", ("gs://here/t.tar.gz",), "trainer.task")


def warned(spec: JobSpec) -> list[str]:
    """The buckets that are warned of."""
    return [text.split()[0] for text in advise_locality(spec, LOCATIONS.get)]


def spec(program: Program = PACKAGES, directory: str = "gs://america/out") -> JobSpec:
    made = make_spec(program=program)
    given = Directory(None, directory, "trainingInput.jobDir")
    return replace(made, region="us-central1", directories=(given,))


def test_a_job_where_its_data_is() -> None:
    assert warned(spec()) == []


def test_the_sentence() -> None:
    (said,) = advise_locality(spec(directory="gs://europe/out"), LOCATIONS.get)

    assert said == (
        "gs://europe is in the region EUROPE-WEST4, and the job in us-central1: reading and "
        "writing across regions is slower, and Google charges for it; run the job where its data "
        "is, or use a bucket in us-central1"
    )


@pytest.mark.parametrize(
    "program",
    [
        replace(PACKAGES, package_uris=("gs://europe/t.tar.gz",)),
        replace(PACKAGES, args=("--data", "gs://europe/train/*.csv")),
        replace(PACKAGES, args=("--data=/gcs/europe/train",)),
        replace(PACKAGES, args=("gs://here/a,gs://europe/b",)),
        ContainerProgram("gcr.io/p/i", ("sh", "-c", "ls gs://europe"), None),
        ContainerProgram("gcr.io/p/i", None, ("gs://europe/x",)),
    ],
)
def test_every_place_that_names_a_bucket(program: Program) -> None:
    assert warned(spec(program)) == ["gs://europe"]


def test_variables_of_the_program() -> None:
    made = spec()
    pool = replace(made.primary, environment=(("DATA", "gs://both/x"), ("OUT", "gs://america/x")))

    assert warned(replace(made, pools=(pool,))) == ["gs://both"]


def test_buckets_that_are_not_there_and_each_bucket_once() -> None:
    args = ("gs://nowhere/x", "gs://europe/a", "gs://europe/b")

    assert warned(spec(replace(PACKAGES, args=args))) == ["gs://europe"]


def test_any_number_of_buckets() -> None:
    args = tuple(f"gs://bucket-{number}/x" for number in range(1000))
    asked: list[str] = []

    def look_up(bucket: str) -> None:
        asked.append(bucket)

    assert list(advise_locality(spec(replace(PACKAGES, args=args)), look_up)) == []
    assert len(asked) == MAX_BUCKETS
