"""Which environments a job needs, and what was found for each of its packages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import pytest

from footplate.buckets.folder_buckets import FolderBuckets
from footplate.control.package_checks import PackageChecks
from footplate.control.preflight import NOTHING, Staging
from footplate.control.submission_checks import SubmissionChecks
from footplate.control.tuning.prior_studies import PriorStudies
from footplate.control.tuning.resumed_searches import SearchResolver
from footplate.domain.errors import InvalidArgument
from footplate.domain.jobs import JobSpec, PythonProgram, RestartBounds
from footplate.domain.names import GcsUri, TrainingJobName
from footplate.domain.preview.package_check import PackageCheck
from footplate.domain.quotas import Quotas
from footplate.domain.submission import Submission
from footplate.ports.package_resolver import EnvironmentRequest, Resolution
from tests.support.catalogue import built_in
from tests.support.clock import FakeClock
from tests.support.container_engine import FakeContainerEngine
from tests.support.jobs import make_spec
from tests.support.sites import make_regions
from tests.support.store import MemoryStore

TRAINER, OTHER = "gs://demo-bucket/trainer-0.1.tar.gz", "gs://demo-bucket/other-1.tar.gz"


class FakeResolver:
    def __init__(self) -> None:
        self.resolution = Resolution()
        self.asked: list[EnvironmentRequest] = []
        self.contents: list[bytes] = []

    async def resolve(
        self, request: EnvironmentRequest, open_package: Callable[[str], BinaryIO]
    ) -> Resolution:
        self.asked.append(request)
        for uri in request.packages:
            with open_package(uri) as file:
                self.contents.append(file.read())
        return self.resolution


@pytest.fixture
def resolver() -> FakeResolver:
    return FakeResolver()


@pytest.fixture
def checks(tmp_path: Path, resolver: FakeResolver) -> PackageChecks:
    buckets, store, regions = FolderBuckets(tmp_path, FakeClock()), MemoryStore(), make_regions()
    buckets.create_bucket("demo-bucket")
    buckets.write("demo-bucket", "trainer-0.1.tar.gz", [b"in the bucket"])
    searches = SearchResolver(store, PriorStudies(store, store.studies))
    submission_checks = SubmissionChecks(
        *(buckets, built_in(), regions, Quotas, RestartBounds(0, 0), searches),
        FakeContainerEngine(),
        reduction=True,
    )
    return PackageChecks(submission_checks, buckets, built_in(), regions.site, resolver)


def submission(*package_uris: str, workers: int = 0) -> Submission:
    spec: JobSpec = make_spec(workers=workers)
    program = spec.pools[0].program
    assert isinstance(program, PythonProgram)
    program = replace(program, package_uris=package_uris)
    spec = replace(spec, pools=tuple(replace(pool, program=program) for pool in spec.pools))
    return Submission(TrainingJobName("demo", "job_1"), "job_1", spec, "{}")


def test_replicas_with_the_same_environment_are_resolved_once(
    checks: PackageChecks, resolver: FakeResolver
) -> None:
    resolver.resolution = Resolution(("six==1.16.0",))

    planned = checks.plan(submission(TRAINER, workers=2), NOTHING)
    (found,) = asyncio.run(checks.check(planned, {}))

    (request,) = resolver.asked
    assert found.package == TRAINER
    assert (found.added, found.error, found.runtime) == (
        ("six==1.16.0",),
        "",
        request.runtime.name,
    )
    assert found.roles == tuple(pool.cluster_role for pool in submission(workers=2).spec.pools)
    assert resolver.contents == [b"in the bucket"]


def test_what_is_uploaded_later_comes_with_the_request(
    checks: PackageChecks, resolver: FakeResolver
) -> None:
    staging = Staging(GcsUri("demo-bucket", "other"))

    planned = checks.plan(submission(OTHER), staging)
    asyncio.run(checks.check(planned, {OTHER: b"from the client"}))

    assert resolver.contents == [b"from the client"]


@pytest.mark.parametrize(
    ("error", "failing"),
    [
        ("the requirement six of other-1.tar.gz can't be had", [OTHER]),
        ("the disk is full", [TRAINER, OTHER]),
    ],
)
def test_the_error_stands_at_the_packages_that_it_names(
    checks: PackageChecks, resolver: FakeResolver, error: str, failing: list[str]
) -> None:
    resolver.resolution = Resolution(error=error)
    staging = Staging(GcsUri("demo-bucket", "other"))

    planned = checks.plan(submission(TRAINER, OTHER), staging)
    found: tuple[PackageCheck, ...] = asyncio.run(checks.check(planned, {OTHER: b""}))

    assert [each.package for each in found] == [TRAINER, OTHER]
    assert [each.package for each in found if each.error == error] == failing


def test_a_refused_job_is_refused(checks: PackageChecks, resolver: FakeResolver) -> None:
    with pytest.raises(InvalidArgument, match="does not exist"):
        checks.plan(submission(OTHER), NOTHING)
    assert not resolver.asked
