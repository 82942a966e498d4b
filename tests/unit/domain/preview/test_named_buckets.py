"""Buckets that a job names: far away, of another project, or not here."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from footplate.domain.jobs import ContainerProgram, Directory, JobSpec, Program, PythonProgram
from footplate.domain.preview.named_buckets import MAX_BUCKETS, NamedBucket, advise_buckets
from tests.support.jobs import make_spec

LOCATIONS = {"here": "US-CENTRAL1", "america": "US", "europe": "EUROPE-WEST4", "both": "EUR4"}
PACKAGES = PythonProgram("version:2.21/", ("gs://here/t.tar.gz",), "trainer.task")
SAMPLE = "gs://cloud-samples-data/ai-platform/census/adult.data.csv"


def find(name: str) -> NamedBucket | None:
    if name == "theirs":
        return NamedBucket("US", "others")
    return NamedBucket(LOCATIONS[name]) if name in LOCATIONS else None


def advice(spec: JobSpec, *shared: str) -> list[str]:
    return list(advise_buckets(spec, "demo", find, shared))


def warned(spec: JobSpec) -> list[str]:
    """The buckets that are warned of."""
    return [first_address(text) for text in advice(spec)]


def first_address(text: str) -> str:
    found: list[str] = re.findall(r"gs://[^\s,]+", text)
    return found[0]


def spec(program: Program = PACKAGES, directory: str = "gs://america/out") -> JobSpec:
    made = make_spec(program=program)
    given = Directory(None, directory, "trainingInput.jobDir")
    return replace(made, region="us-central1", directories=(given,))


def test_a_job_where_its_data_is() -> None:
    assert warned(spec()) == []


def test_the_sentence() -> None:
    (said,) = advice(spec(directory="gs://europe/out"))

    assert said == (
        "gs://europe is in the region EUROPE-WEST4, and the job in us-central1. Reading and "
        "writing across regions is slower, and Google charges for it: run the job where its data "
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


def test_each_bucket_once() -> None:
    args = ("gs://europe/a", "gs://europe/b", "gs://nowhere/a", "gs://nowhere/b")

    assert warned(spec(replace(PACKAGES, args=args))) == ["gs://europe", "gs://nowhere/a"]


@pytest.mark.parametrize(
    "program",
    [
        replace(PACKAGES, args=(f"--train-files={SAMPLE}",)),
        replace(PACKAGES, args=("--train-files", f"{SAMPLE},gs://here/x")),
        ContainerProgram("gcr.io/p/i", ("sh", "-c", f"gsutil cp '{SAMPLE}' ."), None),
    ],
)
def test_a_bucket_of_the_cloud_is_named_with_the_ways_out(program: Program) -> None:
    (said,) = advice(spec(program))

    assert said == (
        f"the job names {SAMPLE}, but there is no bucket 'cloud-samples-data' here; create it "
        "with `footplate storage buckets create gs://cloud-samples-data`. Add `--bind "
        "gs://cloud-samples-data` to use the bucket of this name in the cloud"
    )


def test_data_of_a_pipeline() -> None:
    data = (("AIP_TRAINING_DATA_URI", "gs://nowhere/t*"), ("AIP_TEST_DATA_URI", f"{SAMPLE}*"))

    assert warned(replace(spec(), data=data)) == [f"{SAMPLE}*"]


def test_a_bucket_that_the_client_makes_is_no_surprise() -> None:
    made = spec(replace(PACKAGES, args=("gs://staging/x", SAMPLE)))
    said = advise_buckets(made, "demo", find, (), lambda name: name == "staging")

    assert [first_address(text) for text in said] == [SAMPLE]


def test_what_is_refused_is_not_warned_of_as_well() -> None:
    packages = replace(PACKAGES, package_uris=("gs://nowhere/t.tar.gz",))

    assert advice(spec(packages, "gs://nowhere-else/out")) == []


def test_buckets_of_other_projects() -> None:
    made = spec(replace(PACKAGES, args=("--data", "gs://theirs/x.csv")))

    (said,) = advice(made)
    assert said == (
        "the job names gs://theirs/x.csv, but the bucket 'theirs' belongs to the project 'others'. "
        "Programs of 'demo' may read it only if the server's setting shared_buckets names it"
    )
    assert advice(made, "the*") == []
    assert advice(spec(directory="gs://theirs/out")) == []


def test_any_number_of_buckets() -> None:
    args = tuple(f"gs://bucket-{number}/x" for number in range(1000))
    asked: list[str] = []

    def look_up(bucket: str) -> NamedBucket:
        asked.append(bucket)
        return NamedBucket("US")

    assert list(advise_buckets(spec(replace(PACKAGES, args=args)), "demo", look_up, ())) == []
    assert len(asked) == MAX_BUCKETS
