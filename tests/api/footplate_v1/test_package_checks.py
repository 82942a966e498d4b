"""Checks of packages over HTTP: what can't be installed is the answer, not an error."""

from __future__ import annotations

import asyncio
import base64
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import httpx
import pytest

from footplate.api.app import create_app
from footplate.api.footplate_v1.package_checks import package_check_routes
from footplate.api.security import Access
from footplate.buckets.folder_buckets import FolderBuckets
from footplate.control.package_checks import PackageChecks
from footplate.control.submission_checks import SubmissionChecks
from footplate.control.tuning.prior_studies import PriorStudies
from footplate.control.tuning.resumed_searches import SearchResolver
from footplate.domain.errors import DeadlineExceeded
from footplate.domain.jobs import RestartBounds
from footplate.domain.quotas import Quotas
from footplate.ports.package_resolver import EnvironmentRequest, Resolution
from tests.support.catalogue import built_in
from tests.support.clock import FakeClock
from tests.support.container_engine import FakeContainerEngine
from tests.support.http_server import serve
from tests.support.sites import make_regions
from tests.support.store import MemoryStore

JOBS = "/footplate/v1/projects/demo/jobs:checkPackages"
CUSTOM = "/footplate/v1/projects/demo/locations/us-central1/customJobs:checkPackages"
IMAGE = "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-21.py311:latest"
CUSTOM_JOB = {
    "displayName": "census",
    "jobSpec": {
        "workerPoolSpecs": [
            {
                "machineSpec": {"machineType": "n1-standard-4"},
                "replicaCount": "1",
                "pythonPackageSpec": {
                    "executorImageUri": IMAGE,
                    "packageUris": ["gs://stage/later/t.tar.gz"],
                    "pythonModule": "trainer.task",
                },
            }
        ]
    },
}


class FakeResolver:
    def __init__(self) -> None:
        self.answer: Resolution | Exception = Resolution(("six==1.16.0",))
        self.hangs = False
        self.asked, self.cancelled = threading.Event(), threading.Event()
        self.contents: list[bytes] = []

    async def resolve(
        self, request: EnvironmentRequest, open_package: Callable[[str], BinaryIO]
    ) -> Resolution:
        for uri in request.packages:
            with open_package(uri) as file:
                self.contents.append(file.read())
        self.asked.set()
        try:
            while self.hangs:
                await asyncio.sleep(0.01)
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def resolver() -> FakeResolver:
    return FakeResolver()


@pytest.fixture
def http(tmp_path: Path, resolver: FakeResolver) -> Iterator[httpx.Client]:
    buckets, store, regions = FolderBuckets(tmp_path, FakeClock()), MemoryStore(), make_regions()
    buckets.create_bucket("stage")
    buckets.write("stage", "t.tar.gz", [b"..."])
    searches = SearchResolver(store, PriorStudies(store, store.studies))
    gate = SubmissionChecks(
        *(buckets, built_in(), regions, Quotas, RestartBounds(), searches),
        FakeContainerEngine(),
        reduction=True,
    )
    checks = PackageChecks(gate, buckets, built_in(), regions.site, resolver)
    app = create_app(package_check_routes(checks, built_in()), Access(None, frozenset()))
    with serve(app) as url, httpx.Client(base_url=url, trust_env=False, timeout=60) as client:
        yield client


def training(uri: str = "gs://stage/t.tar.gz") -> dict[str, object]:
    job = {
        "scaleTier": "BASIC",
        "region": "us-central1",
        "runtimeVersion": "2.11",
        "pythonVersion": "3.7",
        "pythonModule": "trainer.task",
        "packageUris": [uri],
    }
    return {"job": {"jobId": "census_1", "trainingInput": job}}


def test_a_package_in_a_bucket(http: httpx.Client, resolver: FakeResolver) -> None:
    answer = http.post(JOBS, json=training())

    assert answer.json() == {
        "packages": [
            {
                "package": "gs://stage/t.tar.gz",
                "roles": ["master"],
                "runtime": "2.11",
                "result": "OK",
                "adds": ["six==1.16.0"],
            }
        ]
    }
    assert resolver.contents == [b"..."]


def test_a_package_that_comes_with_the_request(http: httpx.Client, resolver: FakeResolver) -> None:
    resolver.answer = Resolution(error="t.tar.gz doesn't build")
    package = {
        "uri": "gs://stage/later/t.tar.gz",
        "content": base64.b64encode(b"mine").decode("ascii"),
    }
    body = {"job": CUSTOM_JOB, "packages": [package]}

    answer = http.post(CUSTOM, params={"staging": "gs://stage/later/"}, json=body)

    (found,) = answer.json()["packages"]
    assert (answer.status_code, found["result"]) == (200, "FAILED")
    assert found["error"] == "t.tar.gz doesn't build"
    assert resolver.contents == [b"mine"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "job: required: the body of a create request"),
        ({**training(), "packages": [{"uri": "gs://a/b"}]}, "packages[0]: required: uri, and"),
        ({**training(), "packages": [{"uri": "gs://a/b", "content": "?"}]}, "in base64"),
        (training("gs://stage/absent.tar.gz"), "upload it first"),
    ],
)
def test_what_is_refused(http: httpx.Client, body: object, said: str) -> None:
    answer = http.post(JOBS, json=body)

    assert answer.status_code == 400
    assert said in answer.json()["error"]["message"]


def test_a_check_that_takes_too_long(http: httpx.Client, resolver: FakeResolver) -> None:
    resolver.answer = DeadlineExceeded("t.tar.gz: the check of packages took longer than 600 s")

    answer = http.post(JOBS, json=training())

    assert (answer.status_code, answer.json()["error"]["status"]) == (504, "DEADLINE_EXCEEDED")


def test_a_check_ends_when_its_client_goes(http: httpx.Client, resolver: FakeResolver) -> None:
    resolver.hangs = True
    with pytest.raises(httpx.ReadTimeout):
        http.post(JOBS, json=training(), timeout=httpx.Timeout(60, read=1))

    assert resolver.asked.wait(60)
    assert resolver.cancelled.wait(60)
