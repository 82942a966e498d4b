"""Programs and clients with buckets that are bound to S3."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from footplate.domain.job_states import State
from footplate.domain.names import GcsUri, JobName
from footplate.testing.service import running_service
from tests.e2e.service.conftest import CACHE, Context
from tests.e2e.service.test_bound_buckets import write_settings
from tests.support.requirements import require_view
from tests.support.s3_server import S3Server

PROBE = """
import json, os, sys, urllib.request

job_dir, top = sys.argv[sys.argv.index("--job-dir") + 1].replace("gs://", "/gcs/"), "/gcs/data"
if not os.path.isdir("/gcs"):
    print(json.dumps({"view": False}), flush=True)
    sys.exit()

def fetch(path):
    with urllib.request.urlopen(os.environ["STORAGE_EMULATOR_HOST"] + path) as answer:
        return answer.read().decode()

with open(top + "/train/x") as file:
    read = file.read()
os.makedirs(job_dir + "/model")
with open(job_dir + "/model/saved", "w") as file:
    file.write(read * 2)
try:
    with open(top + "/train/new", "w") as file:
        file.write("x")
    written = True
except OSError:
    written = False
def see(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""

folder = sys.argv[2]
listed = json.loads(fetch("/storage/v1/b/data/o"))
print(json.dumps({
    "listed": [sorted(files) for _, _, files in os.walk(top)],
    "written": written,
    "view": True,
    "by_key": fetch("/storage/v1/b/data/o/other?alt=media"),
    "names": [item["name"] for item in listed["items"]],
    "environment": [name for name in os.environ if name.startswith("AWS")],
    "secret": "secret-of-the-server" in repr(os.environ),
    "files": [see(folder + "/credentials"), see(folder + "/other")],
}), flush=True)
"""
CREDENTIALS = "[default]\naws_session_token = \n"
LOST = "deleted-by-its-program"
DELETE = """
import sys, urllib.request
urllib.request.urlopen(urllib.request.Request(sys.argv[1], method="DELETE")).close()
"""
SAVE = """
import sys
path = sys.argv[sys.argv.index("--job-dir") + 1].replace("gs://", "/gcs/")
with open(path + "/result", "w") as file:
    file.write("precious")
"""


@pytest.fixture(scope="module")
def s3_bucket(s3_server: S3Server) -> str:
    bucket = s3_server.make_bucket(uuid4().hex)
    for key in ("in/train/x", "in/other"):
        s3_server.put(bucket, key, key.encode())
    return bucket


@pytest.fixture(scope="module")
def readable(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that programs see, as a bucket is bound to it."""
    folder = tmp_path_factory.mktemp("readable")
    folder.chmod(0o755)
    for file in ("credentials", "other"):
        (folder / file).write_text(CREDENTIALS)
        (folder / file).chmod(0o644)
    return folder


@pytest.fixture(scope="module")
def context(
    tmp_path_factory: pytest.TempPathFactory, s3_server: S3Server, s3_bucket: str, readable: Path
) -> Iterator[Context]:
    """One service for all of them."""
    data, url = tmp_path_factory.mktemp("stores") / "data", s3_server.url
    write_settings(
        data,
        {"name": "data", "target": f"s3://{s3_bucket}/in", "endpoint": url, "read_only": True},
        {"name": "results", "target": f"s3://{s3_bucket}/out/", "endpoint": url},
        {"name": "lost", "target": f"s3://{s3_server.make_bucket(LOST)}", "endpoint": url},
        {"name": "missing", "target": "s3://no-such-bucket", "endpoint": url},
        {"name": "readable", "target": str(readable), "read_only": True},
    )
    with pytest.MonkeyPatch.context() as patch:
        for name, value in s3_server.credentials.items():
            patch.setenv(name, value)
        patch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(readable / "credentials"))
        with running_service(data, CACHE, stop_grace_s=1) as service:
            yield Context(service)


def events(context: Context, name: JobName) -> str:
    with context.client() as client:
        return "\n".join(each.message for each in client.events(name) if each.kind == "BUCKETS")


def test_a_program_reads_and_writes_copies(
    context: Context, s3_server: S3Server, s3_bucket: str, readable: Path
) -> None:
    name = context.submit(PROBE, "gs://data/train", str(readable), jobDir="gs://results/a")
    job = context.wait_for(name)
    assert job.state is State.SUCCEEDED, (job.error_message, context.messages(name))
    line = next(line for line in context.messages(name) if line.startswith("{"))
    found = json.loads(line)
    require_view(seen=found["view"])
    assert found["by_key"] == "in/other"
    assert found["names"] == ["other", "train/x"]
    assert not found["written"]
    assert (found["environment"], found["secret"]) == ([], False)
    assert found["files"] == ["", CREDENTIALS], "the server's credentials are hidden, alone"
    assert s3_server.read(s3_bucket, "out/a/model/saved") == b"in/train/x" * 2
    told = events(context, name)
    assert "1 object (10 bytes) of s3://" in told
    assert "copied 1 object (20 bytes) of /gcs/results to s3://" in told
    with context.client() as client:
        stored = GcsUri("results", "a/model/saved")
        assert b"".join(client.storage.download(stored)) == b"in/train/x" * 2


def test_a_supervisor_that_reaps_all_orphans_copies_too(
    tmp_path: Path, s3: S3Server, s3_bucket: str
) -> None:
    write_settings(
        tmp_path / "data",
        {"name": "mine", "target": f"s3://{s3_bucket}/reaped", "endpoint": s3.url},
    )
    settings = {"isolation": "subreaper", "stop_grace_s": 1}
    with running_service(tmp_path / "data", CACHE, **settings) as service:
        own = Context(service)
        name = own.submit(SAVE, jobDir="gs://mine/out")
        job = own.wait_for(name)
        assert job.state is State.SUCCEEDED, (job.error_message, own.messages(name))
    assert s3.read(s3_bucket, "reaped/out/result") == b"precious"


def test_what_cannot_be_written_fails_the_job_and_is_kept(
    context: Context, s3_server: S3Server
) -> None:
    """The program deletes the bucket, so that it is gone when its file is to be written."""
    name = context.submit(DELETE + SAVE, f"{s3_server.url}/{LOST}", jobDir="gs://lost/out")
    job = context.wait_for(name)
    assert job.state is State.FAILED
    folder = next((context.service.data_dir / "copies").glob("*/files/lost"))
    assert (folder / "out" / "result").read_text() == "precious"
    said = (
        f"the service can't write 1 file of /gcs/lost to gs://lost (bound to s3://{LOST}): "
        f"the bucket s3://{LOST}"
    )
    assert f"the program succeeded, but {said} doesn't exist" in job.error_message
    assert f"in the folder {folder}: out/result" in job.error_message
    assert said in events(context, name)


def test_a_bucket_that_is_away_fails_the_job_before_its_program(context: Context) -> None:
    name = context.submit(SAVE, "gs://missing/x")
    job = context.wait_for(name)
    assert job.state is State.FAILED
    assert (
        "can't be copied to /gcs/missing: the bucket s3://no-such-bucket doesn't exist"
        in job.error_message
    )
