"""A backup of a running service, and of a killed one, restored: everything is there again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from footplate.domain.job_states import State
from footplate.testing.service import RunningService, running_service
from tests.e2e.service.conftest import BUCKET, CACHE, PROJECT, Context
from tests.support.forked_process import run_footplate

OBJECT = {
    "name": "m/model",
    "contentType": "application/x-model",
    "cacheControl": "no-store",
    "metadata": {"owner": "ann"},
}
UPLOADS = f"/upload/storage/v1/b/{BUCKET}/o"
KEPT = ("secret", "identity.json", "audit.jsonl", "certificate_authority.pem", "footplate.toml")


def put_objects(service: RunningService) -> None:
    """One with all that an object can have, a folder, and a file of a program."""
    body = (
        f"--B\r\nContent-Type: application/json\r\n\r\n{json.dumps(OBJECT)}\r\n"
        "--B\r\nContent-Type: application/x-model\r\n\r\nhello\r\n--B--"
    )
    related = {"Content-Type": "multipart/related; boundary=B"}
    with httpx.Client(base_url=service.url) as http:
        for query, content, headers in (
            ("uploadType=multipart", body, related),
            ("uploadType=media&name=folder/", "", {}),
        ):
            http.post(f"{UPLOADS}?{query}", content=content, headers=headers).raise_for_status()
    (service.data_dir / "buckets" / BUCKET / "by-a-program").write_text("written")


def run(service: RunningService, *words: str) -> dict[str, object]:
    done = run_footplate(*words, "--json", env=service.environment(), timeout=120)
    assert done.returncode == 0, done.stderr
    document: dict[str, object] = json.loads(done.stdout)
    return document


@contextmanager
def restored(service: RunningService, backup: str, data: Path) -> Iterator[RunningService]:
    """A service on the directory that the backup makes."""
    run(service, "restore", backup, f"--data-dir={data}")
    with running_service(data, CACHE, stop_grace_s=1) as again:
        yield again


def ask_everything(service: RunningService) -> dict[str, object]:
    """What users see of jobs, their lines and events, buckets and objects."""
    with httpx.Client(base_url=service.url) as http:
        jobs = http.get(f"/v1/projects/{PROJECT}/jobs").json()
        paths = [
            f"/storage/v1/b?project={PROJECT}",
            f"/storage/v1/b/{BUCKET}/o",
            *(
                f"/footplate/v1/projects/{PROJECT}/jobs/{job['jobId']}/{part}"
                for job in jobs["jobs"]
                for part in ("events", "lines")
            ),
        ]
        answers = {path: http.get(path).raise_for_status().text for path in paths}
    text = json.dumps({"jobs": jobs, **answers}).replace(service.url, "URL")
    found: dict[str, object] = json.loads(text)
    return found


def test_a_restored_service_has_everything(context: Context, tmp_path: Path) -> None:
    service, backups = context.service, str(tmp_path / "backups")
    (service.data_dir / "footplate.toml").write_text("[[quotas]]\njobs = 20\n")
    httpx.get(f"{service.url}/footplate/v1/certificateAuthority").raise_for_status()
    put_objects(service)
    name = context.submit("print('one')")
    with context.client() as client:
        client.cancel(name)
    context.wait_for(name, State.CANCELLED)
    first_seen = ask_everything(service)
    first = run(service, "backup", backups)

    another = context.submit("print('another')")
    with context.client() as client:
        client.cancel(another)
    context.wait_for(another, State.CANCELLED)
    seen = ask_everything(service)
    service.kill()
    second = run(service, "backup", backups)
    kept = {file: (service.data_dir / file).read_bytes() for file in KEPT}

    assert (first["skipped"], second["skipped"]) == ({}, {})
    assert seen != first_seen
    with restored(service, backups, tmp_path / "again") as again:
        assert ask_everything(again) == seen
        for file, content in kept.items():
            assert (again.data_dir / file).read_bytes().startswith(content)
        assert (again.data_dir / "audit.jsonl").stat().st_mode & 0o077 == 0
    with restored(service, str(first["backup"]), tmp_path / "first") as again:
        assert ask_everything(again) == first_seen
