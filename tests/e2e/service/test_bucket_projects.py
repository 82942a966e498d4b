"""The buckets of several projects, as programs find them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from footplate.domain.job_states import State
from footplate.domain.names import GcsUri, JobName
from footplate.testing.service import running_service
from tests.e2e.service.conftest import CACHE, Context

PROBE = """
import json, os, sys, urllib.error, urllib.request

def attempt(act):
    try:
        return str(act())
    except urllib.error.HTTPError as error:
        return str(error.code)
    except OSError as error:
        return type(error).__name__

def read(path):
    with open(path) as file:
        return file.read()

def write(path):
    with open(path, "w") as file:
        return file.write("written")

def fetch(bucket):
    path = "/storage/v1/b/" + bucket + "/o/secret?alt=media"
    with urllib.request.urlopen(os.environ["STORAGE_EMULATOR_HOST"] + path) as answer:
        return answer.read().decode()

buckets = sys.argv[1]
write("/gcs/stage/link-made")
os.symlink(buckets + "/theirs", "/gcs/stage/link")
found = {}
for name in ("theirs", "shared", "before"):
    found[name] = [
        attempt(lambda: read("/gcs/" + name + "/secret")),
        attempt(lambda: read(buckets + "/" + name + "/secret")),
        attempt(lambda: fetch(name)),
    ]
found["tricks"] = [
    attempt(lambda: read("/gcs/stage/link/secret")),
    attempt(lambda: read("/gcs/stage/../theirs/secret")),
    attempt(lambda: fetch("stage%2F..%2Ftheirs")),
    attempt(lambda: os.mkdir("/gcs/made")),
    attempt(lambda: os.mkdir(buckets + "/made")),
    attempt(lambda: os.listdir(buckets + "/.footplate")),
]
found["listed"] = sorted(os.listdir("/gcs")), sorted(os.listdir(buckets))
print(json.dumps(found), flush=True)
"""


@pytest.mark.parametrize("allow_root", ["false", "true"])
def test_a_program_finds_the_buckets_of_its_project(tmp_path: Path, allow_root: str) -> None:
    settings = {"allow_root": allow_root, "shared_buckets": "sha*"}
    with running_service(tmp_path / "data", CACHE, stop_grace_s=1, **settings) as service:
        context = Context(service)
        buckets = service.data_dir / "buckets"
        with context.client() as client:
            for bucket in ("theirs", "shared"):
                client.storage.create_bucket("ads", bucket)
                client.storage.upload(GcsUri(bucket, "secret"), bucket.encode())
        (buckets / "before").mkdir()  # as an earlier version leaves it, without an owner
        (buckets / "before" / "secret").write_text("before")

        name = context.submit(PROBE, str(buckets))
        job = context.wait_for(name)
        assert job.state is State.SUCCEEDED, (job.error_message, context.messages(name))
        line = next(line for line in context.messages(name) if line.startswith("{"))
        found = json.loads(line)
        if any("aren't hidden" in message for message in _isolation(context, name)):
            pytest.skip("this machine hides no files from programs")
        assert found["theirs"] == ["FileNotFoundError", "FileNotFoundError", "403"]
        assert found["shared"] == ["shared"] * 3
        assert found["before"] == ["before"] * 3
        assert not {"theirs", "None"} & set(found["tricks"])
        assert found["listed"] == [["before", "shared", "stage"]] * 2
        assert (context.bucket / "link-made").read_text() == "written"
        with context.client() as client:  # users are kept from nothing
            assert b"".join(client.storage.download(GcsUri("theirs", "secret"))) == b"theirs"

        service.stop()
        service.start()
        assert "belong to no project: before." in service.log.read_text()


def _isolation(context: Context, name: JobName) -> list[str]:
    with context.client() as client:
        return [event.message for event in client.events(name) if event.kind == "ISOLATION"]
