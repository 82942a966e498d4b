"""Addresses in buckets that can't be meant: every client gets the same answer.

gcloud sends the requests over REST that are here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from google.cloud import aiplatform_v1

from footplate.api.app import create_app
from footplate.api.security import Access
from footplate.api.storage_v1 import storage_routes
from footplate.buckets.folder_buckets import FolderBuckets
from footplate.control.submission_checks import SubmissionChecks
from footplate.control.tuning.prior_studies import PriorStudies
from footplate.control.tuning.resumed_searches import SearchResolver
from footplate.domain.errors import no_bucket
from footplate.domain.jobs import RestartBounds
from footplate.domain.names import GcsUri
from footplate.domain.quotas import Quotas
from footplate.domain.submission import Location, Submission
from footplate.grpc_api.schema import load_schema
from footplate.grpc_api.transcoding import Transcoder
from footplate.wire.json_text import JsonObject
from footplate.wire.training_v1.submissions import read_submission as read_training
from footplate.wire.vertex_v1.submissions import read_submission as read_vertex
from tests.support.catalogue import built_in
from tests.support.clock import FakeClock
from tests.support.container_engine import FakeContainerEngine
from tests.support.http_server import serve
from tests.support.sites import make_regions
from tests.support.store import MemoryStore

Client = Callable[[str, str, tuple[str, ...]], Submission]

HERE = Location("demo", "us-central1")
IMAGE = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-9.py311:latest"
PACKAGE = "gs://stage/t.tar.gz"
CREATE = "/google.cloud.aiplatform.v1.JobService/CreateCustomJob"
FOLDER = "this bucket is a folder, where a file can't have the name '..'"


def over_ml(directory: str, package: str, args: tuple[str, ...]) -> Submission:
    inputs: JsonObject = {
        "scaleTier": "BASIC",
        "region": "us-central1",
        "runtimeVersion": "2.21",
        "pythonVersion": "3.11",
        "pythonModule": "t.task",
        "packageUris": [package],
        "jobDir": directory,
        "args": list(args),
    }
    return read_training({"jobId": "j", "trainingInput": inputs}, "demo", built_in())


def vertex_job(directory: str, package: str, args: tuple[str, ...]) -> dict[str, Any]:
    program = {
        "executor_image_uri": IMAGE,
        "python_module": "t.task",
        "package_uris": [package],
        "args": list(args),
    }
    pool = {
        "machine_spec": {"machine_type": "n1-standard-4"},
        "replica_count": 1,
        "python_package_spec": program,
    }
    output = {"output_uri_prefix": directory}
    return {
        "display_name": "j",
        "job_spec": {"worker_pool_specs": [pool], "base_output_directory": output},
    }


def over_vertex(*given: Any) -> Submission:
    return read_vertex(vertex_job(*given), HERE, built_in())


def over_grpc(*given: Any) -> Submission:
    """A call over gRPC is the request over REST that stands for it."""
    request = aiplatform_v1.CreateCustomJobRequest
    parent = "projects/demo/locations/us-central1"
    content = request.serialize(request(parent=parent, custom_job=vertex_job(*given)))
    schema = load_schema()
    sent = Transcoder(schema).request(schema.methods[CREATE], content)
    return read_vertex(json.loads(sent.body or b""), HERE, built_in())


CLIENTS = [over_ml, over_vertex, over_grpc]
each_client = pytest.mark.parametrize("client", CLIENTS)


@pytest.fixture
def buckets(tmp_path: Path) -> Iterator[FolderBuckets]:
    made = FolderBuckets(tmp_path / "buckets", FakeClock())
    made.create_bucket("stage", project="demo")
    made.create_bucket("theirs", project="other")
    made.write("stage", "t.tar.gz", [b"\x1f\x8b"])
    made.write("stage", "data/a.csv", [b"x"])
    yield made
    made.close()


@pytest.fixture
def checks(buckets: FolderBuckets) -> SubmissionChecks:
    store = MemoryStore()
    return SubmissionChecks(
        buckets,
        built_in(),
        make_regions(),
        Quotas,
        RestartBounds(),
        SearchResolver(store, PriorStudies(store, store.studies)),
        FakeContainerEngine(),
        reduction=True,
        shared_buckets=(),
    )


@pytest.fixture
def storage(buckets: FolderBuckets) -> Iterator[httpx.Client]:
    with (
        serve(create_app(storage_routes(buckets), Access())) as url,
        httpx.Client(base_url=url, timeout=60) as client,
    ):
        yield client


REFUSED = [
    ("gs://nowhere/a.tar.gz", no_bucket("nowhere").message),
    ("gs://stage/../t.tar.gz", FOLDER),
    ("gs://stage/a/../../t.tar.gz", FOLDER),
    (
        "gs://büro/t.tar.gz",
        "'büro' can't be the name of a bucket; allowed: 3 to 63 lowercase letters",
    ),
    (
        "gs://STAGE/t.tar.gz",
        "'STAGE' can't be the name of a bucket; allowed: 3 to 63 lowercase letters",
    ),
    ("gs://stage//t.tar.gz", "where a file's name can't be empty"),
    ("gs://stage/a\n.tar.gz", "has a line break in it"),
]


@each_client
@pytest.mark.parametrize(("address", "said"), REFUSED)
def test_what_can_t_be_is_refused_alike(
    checks: SubmissionChecks, client: Client, address: str, said: str
) -> None:
    """As a directory and as a package, at its field."""
    as_directory = checks.violations(client(address, PACKAGE, ()))
    as_package = checks.violations(client("gs://stage/out", address, ()))
    assert [said in each.description for each in as_directory] == [True], as_directory
    assert [said in each.description for each in as_package] == [True], as_package
    assert as_package[0].field.endswith("ackageUris[0]")


@pytest.mark.parametrize(("address", "said"), REFUSED)
def test_the_storage_api_says_the_same(storage: httpx.Client, address: str, said: str) -> None:
    uri = GcsUri.parse(address, "x")
    answer = storage.get(f"/storage/v1/b/{quote(uri.bucket)}/o/{quote(uri.path, safe='')}")
    assert answer.status_code == (404 if uri.bucket == "nowhere" else 400)
    assert said in answer.json()["error"]["message"]


@each_client
@pytest.mark.parametrize("address", ["gs://stage/t.tar.gz", "gs://stage/t.tar.gz/sub"])
def test_an_object_in_place_of_a_directory(
    checks: SubmissionChecks, client: Client, address: str
) -> None:
    (found,) = checks.violations(client(address, PACKAGE, ()))
    assert found.description == "gs://stage/t.tar.gz is an object; allowed: a directory"


@each_client
@pytest.mark.parametrize("address", ["gs://stage/data/", "gs://stage/data", "gs://stage"])
def test_a_directory_in_place_of_a_package(
    checks: SubmissionChecks, client: Client, address: str
) -> None:
    (found,) = checks.violations(client("gs://stage/out", address, ()))
    assert "does not exist; upload it first" in found.description or "of a package file" in (
        found.description
    )


@each_client
@pytest.mark.parametrize(
    "address",
    ["gs://stage", "gs://stage/", "gs://stage/out", "gs://stage/out/", "gs://stage/büro/日本/"],
)
def test_slashes_at_the_end_and_unicode_make_no_difference(
    checks: SubmissionChecks, client: Client, address: str
) -> None:
    assert checks.violations(client(address, PACKAGE, ())) == ()


@each_client
def test_a_bucket_of_another_project(checks: SubmissionChecks, client: Client) -> None:
    """A job may write there if its request says so; in arguments it is warned of."""
    args = ("--data=gs://theirs/a.csv", "--more=gs://nowhere/b.csv")
    made = client("gs://theirs/out", PACKAGE, ())
    assert checks.violations(made) == ()
    assert not any("theirs" in text for text in checks.warnings(made))
    warned = [
        text for text in checks.warnings(client("gs://stage/out", PACKAGE, args)) if "gs://" in text
    ]
    assert [text.split(",")[0] for text in warned] == [
        "the job names gs://theirs/a.csv",
        "the job names gs://nowhere/b.csv",
    ]
    assert "belongs to the project 'other'" in warned[0]
    assert no_bucket("nowhere").message in warned[1]
