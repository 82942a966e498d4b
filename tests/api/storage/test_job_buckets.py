"""The storage API at the address of a job: the buckets of its project, and shared ones."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException

from footplate.api.errors import answer_router_error, answer_service_error
from footplate.api.storage_v1 import program_routes, storage_routes
from footplate.buckets.folder_buckets import FolderBuckets
from footplate.control.job_buckets import BucketScope, JobBuckets
from footplate.domain.errors import ServiceError
from footplate.domain.names import GcsUri
from tests.support.http_server import serve

OWN, SHARED, NAMED, OLD, FOREIGN = "own", "data-set", "out-put", "stage", "theirs"
MAY_USE = [OWN, SHARED, NAMED, OLD]
SCOPES = {"KEY": BucketScope("demo", frozenset({NAMED})), "OTHER": BucketScope("ads")}
UPLOAD = "/upload/storage/v1/b/{}/o?uploadType={}&name=a"
TRICKS = ["../theirs", "own/../theirs", "%2e%2e/theirs", "own%2F..%2Ftheirs", "THEIRS", "theirs%00"]


@pytest.fixture
def url(buckets: FolderBuckets) -> Iterator[str]:
    buckets.create_bucket(OWN, project="demo")
    for name in (SHARED, NAMED, FOREIGN):
        buckets.create_bucket(name, project="ads")
        buckets.write(name, "a", [b"bytes"])
    buckets.write(OWN, "a", [b"own"])
    mount = program_routes(
        "/programs",
        SCOPES.__getitem__,
        lambda scope: storage_routes(JobBuckets(buckets, scope, ["data-*"])),
    )
    handlers = {ServiceError: answer_service_error, HTTPException: answer_router_error}
    with serve(Starlette(routes=[mount], exception_handlers=handlers)) as found:
        yield f"{found}/programs"


@pytest.fixture
def program(url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{url}/KEY", timeout=60) as client:
        yield client


def test_a_list_has_what_may_be_used(program: httpx.Client) -> None:
    items = program.get("/storage/v1/b?project=ads").json()["items"]
    assert sorted(item["name"] for item in items) == sorted(MAY_USE)
    assert {item["name"]: item.get("project") for item in items} == {
        **dict.fromkeys((SHARED, NAMED), "ads"),
        OWN: "demo",
        OLD: None,
    }


@pytest.mark.parametrize("bucket", MAY_USE)
def test_these_are_open(program: httpx.Client, bucket: str) -> None:
    assert program.post(UPLOAD.format(bucket, "media"), content=b"new").status_code == 200
    assert program.get(f"/storage/v1/b/{bucket}/o/a?alt=media").content == b"new"
    assert program.get(f"/storage/v1/b/{bucket}/o").status_code == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/storage/v1/b/theirs"),
        ("DELETE", "/storage/v1/b/theirs"),
        ("GET", "/storage/v1/b/theirs/storageLayout"),
        ("GET", "/storage/v1/b/theirs/managedFolders"),
        ("GET", "/storage/v1/b/theirs/o"),
        ("GET", "/storage/v1/b/theirs/o/a"),
        ("GET", "/storage/v1/b/theirs/o/a?alt=media"),
        ("GET", "/download/storage/v1/b/theirs/o/a?alt=media"),
        ("DELETE", "/storage/v1/b/theirs/o/a"),
        ("PATCH", "/storage/v1/b/theirs/o/a"),
        ("POST", UPLOAD.format("theirs", "media")),
        ("POST", UPLOAD.format("theirs", "resumable")),
        ("POST", "/storage/v1/b/theirs/o/a/copyTo/b/own/o/b"),
        ("POST", "/storage/v1/b/own/o/a/rewriteTo/b/theirs/o/a"),
        ("POST", "/storage/v1/b/theirs/o/a/compose"),
    ],
)
def test_another_projects_bucket_is_closed(
    program: httpx.Client, buckets: FolderBuckets, method: str, path: str
) -> None:
    body = {"sourceObjects": [{"name": "a"}]} if path.endswith("compose") else {}
    answer = program.request(method, path, json=None if method == "GET" else body)
    assert answer.status_code == 403, answer.text
    assert "belongs to the project 'ads'" in answer.text
    assert _read(buckets) == b"bytes"


def test_it_is_open_to_its_own(url: str) -> None:
    answer = httpx.get(f"{url}/OTHER/storage/v1/b/theirs/o/a?alt=media")
    assert answer.content == b"bytes"


def test_a_batch_leads_to_no_other_bucket(program: httpx.Client, buckets: FolderBuckets) -> None:
    inner = "DELETE {} HTTP/1.1\r\n\r\n\r\n"
    paths = ("/storage/v1/b/theirs/o/a", "/programs/OTHER/storage/v1/b/theirs/o/a")
    parts = "".join(
        f"--x\r\nContent-Type: application/http\r\n\r\n{inner.format(path)}" for path in paths
    )
    headers = {"Content-Type": "multipart/mixed; boundary=x"}
    answer = program.post("/batch/storage/v1", content=f"{parts}--x--\r\n", headers=headers)
    assert "204" not in answer.text
    assert _read(buckets) == b"bytes"


def test_an_upload_of_another_job_cant_be_gone_on_with(url: str) -> None:
    begun = httpx.post(f"{url}/OTHER{UPLOAD.format(FOREIGN, 'resumable')}", json={})
    address = begun.headers["location"].replace("/OTHER/", "/KEY/")
    for stolen in (address, address.replace("/theirs/", "/own/")):
        assert httpx.put(stolen, content=b"more").status_code in (403, 404)
        assert httpx.delete(stolen).status_code in (403, 404)
    assert httpx.put(begun.headers["location"], content=b"more").status_code == 200


@pytest.mark.parametrize("name", TRICKS)
def test_no_spelling_opens_it(program: httpx.Client, buckets: FolderBuckets, name: str) -> None:
    for path in (
        f"/storage/v1/b/{name}/o/a?alt=media",
        f"/storage/v1/b/own/o/{name}%2Fa?alt=media",
    ):
        assert program.get(path).status_code in (400, 403, 404)
    assert program.post(UPLOAD.format(name, "media"), content=b"x").status_code in (400, 403, 404)
    assert _read(buckets) == b"bytes"


def test_a_link_in_a_bucket_leads_into_no_other(
    program: httpx.Client, buckets: FolderBuckets
) -> None:
    own = buckets.local_path(GcsUri(OWN, ""))
    assert own is not None
    (own / "link").symlink_to(f"../{FOREIGN}", target_is_directory=True)
    (own / "file").symlink_to(f"../{FOREIGN}/a")
    for name in ("link%2Fa", "file"):
        assert program.get(f"/storage/v1/b/own/o/{name}?alt=media").status_code == 404


def test_a_bucket_that_a_program_makes_is_its_projects(
    program: httpx.Client, buckets: FolderBuckets
) -> None:
    made = program.post("/storage/v1/b?project=ads", json={"name": "made"})
    assert made.json()["project"] == "demo"
    assert buckets.bucket("made").project == "demo"


def _read(buckets: FolderBuckets) -> bytes:
    with buckets.read(FOREIGN, "a") as file:
        return file.read()
