"""Programs that open gs:// by themselves, against a service that requires a token."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import google.cloud.storage
import httpx
import pytest

from footplate.domain.job_states import State
from footplate.server.listener import listen
from footplate.testing.service import running_service
from tests.e2e.service.conftest import CACHE, Context, SharedServices
from tests.support.gcloud import find_gcloud

TOKEN = "s3cret-of-all"
TELL = """
import json, os, sys, time
print(json.dumps({name: value for name, value in os.environ.items()}), flush=True)
while not os.path.exists(f"/gcs/{sys.argv[1]}/enough"):
    time.sleep(0.05)
"""

READ = """
import pkgutil
print(pkgutil.get_data("trainer", "vocabulary").decode())
"""
TOOLS_SETUP = """
import subprocess
subprocess.run("gsutil -q cp gs://stage/vocabulary trainer/vocabulary".split(), check=True)
from setuptools import setup
setup(name="trainer", version="0.1.0", packages=["trainer"], package_data={"trainer": ["*"]})
"""


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    with running_service(tmp_path / "data", CACHE, stop_grace_s=1, token=TOKEN) as service:
        yield Context(service, TOKEN)


@pytest.fixture
def shared(shared_services: SharedServices) -> Iterator[Context]:
    with shared_services.context(token=TOKEN) as context:
        yield context


def test_googles_client_finds_the_buckets_by_what_a_program_is_told(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = context.submit(TELL, context.bucket.name)
    context.until(lambda: bool(context.messages(name)))
    environment = json.loads(context.messages(name)[0])
    assert TOKEN not in str(environment)
    address = environment["STORAGE_EMULATOR_HOST"]
    assert address.startswith(f"{context.service.url}/programs/")

    monkeypatch.setenv("STORAGE_EMULATOR_HOST", address)
    with google.cloud.storage.Client() as client:
        bucket = client.bucket("stage")
        bucket.blob("out/model").upload_from_string("m" * 1000)
        assert bucket.get_blob("out/model").download_as_bytes() == b"m" * 1000
    assert (context.bucket / "out" / "model").read_bytes() == b"m" * 1000
    elsewhere = address.replace("/programs/", "/v1/projects/demo/jobs?key=")
    assert httpx.get(elsewhere).status_code == 403

    context.service.kill()
    context.service.start()
    with google.cloud.storage.Client() as client:
        assert client.bucket("stage").get_blob("out/model").download_as_bytes() == b"m" * 1000

    (context.bucket / "enough").touch()
    context.wait_for(name, State.SUCCEEDED)
    gone = httpx.get(f"{address}/storage/v1/b/stage/o")
    assert (gone.status_code, "is over" in gone.text) == (403, True)


def test_a_server_whose_port_was_taken_meanwhile_comes_back_at_another_one(
    context: Context,
) -> None:
    name = context.submit(TELL, context.bucket.name)
    context.until(lambda: bool(context.messages(name)))
    context.service.stop()
    before = httpx.URL(context.service.url)
    with closing(listen(str(before.host), before.port or 0)):
        context.service.start()
    assert context.service.url != str(before)
    (context.bucket / "enough").touch()
    context.wait_for(name, State.SUCCEEDED)


def test_gsutil_finds_the_buckets_in_builds(context: Context) -> None:
    """The real one, where it is on PATH."""
    find_gcloud()
    (context.bucket / "vocabulary").write_text("a b c")
    name = context.submit(READ, setup=TOOLS_SETUP)
    job = context.wait_for(name)
    assert job.state is State.SUCCEEDED, (job.error_message, context.messages(name))
    assert "a b c" in context.messages(name)


def test_a_programs_key_opens_nothing_but_the_storage_api(shared: Context) -> None:
    name = shared.submit(TELL, shared.bucket.name)
    shared.until(lambda: bool(shared.messages(name)))
    environment = json.loads(shared.messages(name)[0])
    bearer = {"Authorization": f"Bearer {environment['CLOUDSDK_AUTH_ACCESS_TOKEN']}"}
    url = shared.service.url
    assert (
        httpx.get(f"{url}/storage/v1/b/{shared.bucket.name}/o", headers=bearer).status_code == 200
    )
    for path in (f"/v1/projects/{shared.project}/jobs", "/storage/v1", "/footplate/v1/status"):
        assert httpx.get(f"{url}{path}", headers=bearer).status_code == 403
    (shared.bucket / "enough").touch()
    shared.wait_for(name, State.SUCCEEDED)
    assert (
        httpx.get(f"{url}/storage/v1/b/{shared.bucket.name}/o", headers=bearer).status_code == 403
    )
