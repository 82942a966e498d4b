"""What a job names and isn't there, also of jobs that are wrong in themselves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from footplate import catalogue
from footplate.buckets.folder_buckets import FolderBuckets
from footplate.control.preflight import Staging, joined, violations
from footplate.domain import algorithms
from footplate.domain.errors import Violation
from footplate.domain.jobs import Directory, JobSpec, PythonProgram
from footplate.domain.names import GcsUri
from footplate.ports.buckets import Buckets
from tests.support.clock import FakeClock
from tests.support.jobs import make_custom_name, make_spec

PACKAGE = "gs://demo-bucket/trainer-0.1.tar.gz"
RUNTIMES = catalogue.load()
AT = "jobSpec.baseOutputDirectory.outputUriPrefix"


@pytest.fixture
def buckets(tmp_path: Path) -> FolderBuckets:
    buckets = FolderBuckets(tmp_path / "buckets", FakeClock())
    buckets.create_bucket("demo-bucket")
    buckets.write("demo-bucket", "trainer-0.1.tar.gz", [b"..."])
    return buckets


def spec(
    *packages: str, runtime: str = "version:2.21/", directory: str = "gs://demo-bucket/out"
) -> JobSpec:
    """Three replicas in two pools that run one program, as ml v1 has it."""
    made = make_spec(program=PythonProgram(runtime, packages, "trainer.task"), workers=2)
    pools = tuple(replace(pool, field="trainingInput") for pool in made.pools)
    return replace(made, pools=pools, directories=(Directory(None, directory, "jobDir"),))


def fields(found: tuple[Violation, ...]) -> list[str]:
    return [violation.field for violation in found]


def test_nothing_is_missing(buckets: Buckets) -> None:
    assert violations(spec(PACKAGE), buckets, RUNTIMES) == ()


def test_what_several_pools_or_directories_share_is_told_once(buckets: Buckets) -> None:
    base = make_spec(make_custom_name())
    away = tuple(Directory(d.variable, "gs://no-bucket/x/", AT) for d in base.directories)
    made = spec("gs://demo-bucket/no.tar.gz", runtime="version:9.9/")

    found = violations(replace(made, directories=away), buckets, RUNTIMES)

    assert fields(found) == [AT, "trainingInput.runtimeVersion", "trainingInput.packageUris[0]"]


@pytest.mark.parametrize("uri", ["gs://", "gs:///x", "gs://demo-bucket/../x"])
def test_a_directory_that_is_wrong_in_itself(buckets: Buckets, uri: str) -> None:
    assert fields(violations(spec(PACKAGE, directory=uri), buckets, RUNTIMES)) == ["jobDir"]


@pytest.mark.parametrize("uri", ["", "gs://", "trainer.tar.gz", "gs://demo-bucket/", "s3://x/y"])
def test_a_package_that_is_wrong_in_itself(buckets: Buckets, uri: str) -> None:
    found = violations(spec(PACKAGE, uri), buckets, RUNTIMES)

    assert fields(found) == ["trainingInput.packageUris[1]"]


def test_an_image_that_isnt_named_is_not_looked_for(buckets: Buckets) -> None:
    assert violations(spec(PACKAGE, runtime="image:"), buckets, RUNTIMES) == ()


def test_a_job_without_pools_or_region(buckets: Buckets) -> None:
    assert violations(JobSpec(region="", pools=()), buckets, RUNTIMES) == ()


def test_what_the_client_will_upload_is_not_looked_for(buckets: Buckets) -> None:
    staging = Staging(GcsUri("demo-bucket", "job_1/"))
    made = spec("gs://demo-bucket/job_1/a.tar.gz", "gs://demo-bucket/job_10/a.tar.gz")

    found = violations(made, buckets, RUNTIMES, staging)

    assert fields(found) == ["trainingInput.packageUris[1]"]


def test_the_bucket_of_uploads_must_be_there_unless_the_client_makes_it(buckets: Buckets) -> None:
    made = spec("gs://new-bucket/job_1/a.tar.gz", directory="gs://new-bucket/out")
    uploads = GcsUri("new-bucket", "job_1/")

    told = violations(made, buckets, RUNTIMES, Staging(uploads))
    made_first = violations(made, buckets, RUNTIMES, Staging(uploads, makes_bucket=True))

    assert fields(told) == ["jobDir", "trainingInput.packageUris[0]"]
    assert "footplate storage buckets create gs://new-bucket" in told[1].description
    assert made_first == ()


def test_of_several_violations_at_one_field_the_first_is_told() -> None:
    mine, other = Violation("a", "mine"), Violation("b", "other")

    assert joined((mine, other), (Violation("a", "an echo"), Violation("c", "c"))) == (
        mine,
        other,
        Violation("c", "c"),
    )


def test_a_directory_outside_the_buckets(buckets: Buckets) -> None:
    made = spec(PACKAGE, directory="/srv/out")

    (refused,) = violations(made, buckets, RUNTIMES)
    allowed = violations(made, buckets, RUNTIMES, path_fault=lambda _: None)

    assert refused == Violation("jobDir", "'/srv/out' given; allowed: gs://BUCKET/PATH")
    assert allowed == ()


def test_the_buckets_of_an_algorithm_s_data(buckets: FolderBuckets) -> None:
    args = ("--training_data_path=gs://demo-bucket/x.csv", "--test_data_path=gs://nowhere/y.csv")
    asked = make_spec(program=algorithms.program("boosted_trees", args))
    asked = replace(asked, pools=(replace(asked.primary, field="trainingInput"),))

    (found,) = violations(asked, buckets, RUNTIMES)

    assert found.field == "trainingInput.args[1]"
    assert "there is no bucket 'nowhere' here; create it with" in found.description


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("t-0.1-py3.7.egg", b"PK\x03\x04", "is an egg, which pip doesn't install"),
        ("task.py", b"print()", "is not a package that pip can install"),
        ("trainer.backup", b"\x1f\x8b", ""),
    ],
)
def test_packages_are_known_by_their_content(
    buckets: FolderBuckets, name: str, content: bytes, said: str
) -> None:
    buckets.write("demo-bucket", name, [content])

    found = violations(spec(f"gs://demo-bucket/{name}"), buckets, RUNTIMES)

    assert [violation.field for violation in found] == ["trainingInput.packageUris[0]"] * bool(said)
    assert all(said in violation.description for violation in found)


def test_an_egg_that_is_not_uploaded_yet(buckets: Buckets) -> None:
    staging = Staging(GcsUri("demo-bucket", "job_1/"))

    found = violations(spec("gs://demo-bucket/job_1/t.egg"), buckets, RUNTIMES, staging)

    assert fields(found) == ["trainingInput.packageUris[0]"]
