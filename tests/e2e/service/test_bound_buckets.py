"""Programs and clients with buckets that are bound to storage outside the data directory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from footplate.client.service import Service
from footplate.domain.errors import PermissionDenied
from footplate.domain.job_states import State
from footplate.domain.names import GcsUri
from footplate.testing.service import running_service
from tests.e2e.service.conftest import CACHE, Context
from tests.support.requirements import require_view

PROBE = """
import json, os, sys

def attempt(act):
    try:
        return str(act())
    except OSError as error:
        return type(error).__name__

def read(path):
    with open(path) as file:
        return file.read()

def write(path):
    with open(path, "w") as file:
        return file.write("written")

srv, job_dir = sys.argv[1], sys.argv[sys.argv.index("--job-dir") + 1].replace("gs://", "/gcs/")
print(json.dumps({
    "read": [attempt(lambda: read(top + "/a/x")) for top in ("/gcs/data", srv + "/data")],
    "write": [attempt(lambda: write(top + "/new")) for top in ("/gcs/data", srv + "/data")],
    "theirs": [attempt(lambda: read(top + "/secret")) for top in ("/gcs/theirs", srv + "/theirs")],
    "own": [attempt(lambda: write("/gcs/results/new")), attempt(lambda: write(job_dir + "/model"))],
    "listed": sorted(os.listdir("/gcs")) if os.path.isdir("/gcs") else None,
}), flush=True)
"""


def write_settings(data: Path, *tables: dict[str, object]) -> None:
    data.mkdir()
    lines = [
        line
        for table in tables
        for line in ("[[buckets]]", *(f"{key} = {json.dumps(table[key])}" for key in table))
    ]
    (data / "footplate.toml").write_text("\n".join(lines))


@pytest.mark.parametrize("shared", ["none", "true"])
def test_a_program_finds_its_projects_folders(tmp_path: Path, shared: str) -> None:
    srv = tmp_path / "srv"
    for bucket, file in (("data", "a/x"), ("theirs", "secret"), ("results", "x")):
        (srv / bucket / file).parent.mkdir(parents=True)
        (srv / bucket / file).write_text(bucket)
    (srv / "results").chmod(0o777)  # where owners can't be mapped, its mode decides
    write_settings(
        tmp_path / "data",
        {"name": "data", "target": str(srv / "data"), "read_only": True},
        {"name": "theirs", "target": str(srv / "theirs"), "project": "ads"},
        {"name": "results", "target": str(srv / "results"), "project": "demo"},
    )
    with running_service(
        tmp_path / "data", CACHE, stop_grace_s=1, shared_buckets=shared
    ) as service:
        context = Context(service)
        name = context.submit(PROBE, str(srv), jobDir="gs://results/out")
        job = context.wait_for(name)
        assert job.state is State.SUCCEEDED, (job.error_message, context.messages(name))
        line = next(line for line in context.messages(name) if line.startswith("{"))
        found = json.loads(line)
        require_view(seen=found["listed"] is not None)
        opened = shared == "true"
        assert found["read"] == ["data", "data"]
        assert found["write"] == ["OSError", "OSError"]
        assert found["theirs"] == ["theirs"] * 2 if opened else ["FileNotFoundError"] * 2
        assert found["own"] == ["7", "7"]
        theirs = ["theirs"] if opened else []
        assert found["listed"] == ["data", "results", "stage", *theirs]
        assert (srv / "results" / "out" / "model").read_text() == "written"
        with context.client() as client:
            listed = {each.name: each.resource for each in client.storage.buckets("demo")}
            assert listed["data"]["target"] == str(srv / "data")
            assert b"".join(client.storage.download(GcsUri("results", "new"))) == b"written"
            with pytest.raises(PermissionDenied, match="is read-only"):
                client.storage.upload(GcsUri("data", "new"), b"x")


def test_a_job_directory_that_can_only_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "srv").mkdir()
    table = {"name": "data", "target": str(tmp_path / "srv"), "read_only": True}
    write_settings(tmp_path / "data", table)
    with running_service(tmp_path / "data", CACHE) as service, Service(service.url) as client:
        job = {
            "jobId": "job",
            "trainingInput": {
                "scaleTier": "BASIC",
                "region": "us-central1",
                "masterConfig": {"imageUri": "example.com/image"},
                "jobDir": "gs://data/out",
            },
        }
        with pytest.raises(Exception, match="jobDir: gs://data/out is in a read-only bucket"):
            client.training_jobs.create("demo", job)  # type: ignore[arg-type]  # JSON by hand
