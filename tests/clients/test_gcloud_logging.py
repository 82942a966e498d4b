"""The real ``gcloud logging``, pointed here by ``footplate env``."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Any
from uuid import uuid4

import pytest

from tests.clients.conftest import LIMIT_S
from tests.support.forked_process import ForkedProcess
from tests.support.gcloud import find_gcloud
from tests.support.trainers import Trainers

Run = Callable[..., subprocess.CompletedProcess[str]]

PRINTING = """
import json, time
print(json.dumps({"severity": "WARNING", "message": "the loss is odd", "step": 12}), flush=True)
while True:
    print("still here", flush=True)
    time.sleep(0.5)
"""


@pytest.fixture
def job_id(ml: Any, trainers: Trainers, finish: Callable[..., dict[str, Any]]) -> Iterator[str]:
    """Of a job that prints until it is cancelled."""
    name = f"printing_{uuid4().hex[:12]}"
    training = {
        "scaleTier": "BASIC",
        "region": "us-central1",
        "packageUris": [trainers.make(PRINTING)],
        "pythonModule": "trainer.task",
    }
    body = {"jobId": name, "trainingInput": training}
    ml.jobs().create(parent="projects/demo", body=body).execute()
    finish(name, "RUNNING")
    yield name
    ml.jobs().cancel(name=f"projects/demo/jobs/{name}", body={}).execute()
    finish(name)


@contextmanager
def tail(environment: dict[str, str], query: str) -> Iterator[Iterator[str]]:
    """The lines that it prints. It is ended by force where none come."""
    command = (find_gcloud(), "beta", "logging", "tail", query, "--format=value(text_payload)")
    tailing = ForkedProcess[str](
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    timer = Timer(LIMIT_S, tailing.kill)
    timer.start()
    with tailing:
        assert tailing.stdout is not None
        try:
            yield iter(tailing.stdout)
        finally:
            timer.cancel()
            tailing.kill()


def test_tail_follows_a_job(pointed: dict[str, str], job_id: str) -> None:
    """Over gRPC, for which gcloud wants credentials."""
    with tail(pointed, f'resource.labels.job_id="{job_id}"') as lines:
        said = []
        for line in lines:
            said.append(line.strip())
            if "still here" in said[-1]:
                return
    pytest.fail("\n".join(said))


def test_entries_are_written_read_and_their_logs_listed(gcloud: Run, job_id: str) -> None:
    labels = ("--monitored-resource-type=ml_job", f"--monitored-resource-labels=job_id={job_id}")
    written = gcloud("logging", "write", "notes", "a note", "--severity=NOTICE", *labels)
    assert written.returncode == 0, written.stderr
    query = f'resource.labels.job_id="{job_id}" AND (severity=NOTICE OR jsonPayload.step>11)'
    deadline = time.monotonic() + LIMIT_S
    entries: list[dict[str, Any]] = []
    while len(entries) < len(("odd", "note")) and time.monotonic() < deadline:
        read = gcloud("logging", "read", query, "--format=json")
        assert read.returncode == 0, read.stderr
        entries = json.loads(read.stdout)
    found = {entry["severity"]: entry for entry in entries}
    assert found["WARNING"]["jsonPayload"]["message"] == "the loss is odd"
    assert found["NOTICE"]["textPayload"] == "a note"
    listed = gcloud("logging", "logs", "list")
    assert "projects/demo/logs/notes" in listed.stdout.split()
