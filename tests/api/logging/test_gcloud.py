"""The real gcloud prints every line, in order, and stops when it should."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.types import Receive, Scope, Send

from footplate.domain.names import TuningJobName
from footplate.domain.submission import Location
from tests.api.logging.conftest import World, build
from tests.support.forked_process import ForkedProcess
from tests.support.gcloud import find_gcloud
from tests.support.http_server import serve

_TIMEOUT_S = 90.0
TEXTS = (
    "plain",
    "ünïcode \u4f60\u597d \U0001f600",
    "two\nlines",
    '{"severity": "CRITICAL", "message": "structured", "step": 3, "deep": [[{"a": null}]]}',
    '{"loss": 0.1, "huge": 123456789012345678901234567890}',
    "tab\tand \\ \"quotes\" 'all'",
)
PRINTED = [
    "INFO plain",
    "INFO ünïcode \u4f60\u597d \U0001f600",
    "INFO two",
    "INFO lines",
    "CRITICAL structured",
    'INFO {"loss": 0.1, "huge": 123456789012345678901234567890}',
    "INFO tab\tand \\ \"quotes\" 'all'",
]


class Server:
    """The app, which tells when it was asked for entries."""

    def __init__(self, world: World) -> None:
        self._app = build(world)
        self._asked = threading.Condition()
        self._count = 0
        self.url = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)
        if scope.get("path") == "/v2/entries:list":
            with self._asked:
                self._count += 1
                self._asked.notify_all()

    def wait_for_asking(self, times: int) -> None:
        """Return right after it was answered ``times`` times more."""
        with self._asked:
            wanted = self._count + times
            assert self._asked.wait_for(lambda: self._count >= wanted, _TIMEOUT_S)


def start_gcloud(url: str, config: Path, *words: str) -> ForkedProcess[str]:
    endpoints = ("ML", "AIPLATFORM", "LOGGING")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(config),
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        "CLOUDSDK_CONFIG": str(config),
        "CLOUDSDK_AUTH_DISABLE_CREDENTIALS": "true",
        "CLOUDSDK_CORE_PROJECT": "demo",
        "CLOUDSDK_CORE_DISABLE_PROMPTS": "1",
        **{f"CLOUDSDK_API_ENDPOINT_OVERRIDES_{name}": f"{url}/" for name in endpoints},
    }
    return ForkedProcess[str](
        [find_gcloud(), *words],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


class Gcloud:
    """``gcloud ... stream-logs``, and what it has printed so far."""

    def __init__(self, url: str, config: Path, *words: str) -> None:
        self._process = start_gcloud(url, config, *words, "--polling-interval", "1")

    def lines(self) -> Iterator[list[str]]:
        """The columns of each line as it comes: severity, time, task, perhaps trial, message."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            yield line.removesuffix("\n").split("\t", 3)

    def finish(self) -> list[str]:
        """Severity and message of all lines that are left, when it has ended by itself."""
        output, errors = self._process.communicate(timeout=_TIMEOUT_S)
        assert self._process.returncode == 0, errors
        rows = [line.split("\t", 3) for line in output.split("\n")[:-1]]
        return [f"{row[0]} {row[3].removeprefix(chr(9))}" for row in rows]

    def stop(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def server(world: World) -> Iterator[Server]:
    made = Server(world)
    with serve(made) as made.url:
        yield made


def test_a_training_job_is_followed_to_its_last_words(
    world: World, server: Server, tmp_path: Path
) -> None:
    """Its last words come after a silence, right behind an asking, and it ends at once."""
    job = world.submit()
    world.print(job, *TEXTS)
    gcloud = Gcloud(server.url, tmp_path, "ai-platform", "jobs", "stream-logs", "job_1")
    server.wait_for_asking(1)
    for number in range(300):
        world.print(job, f"line {number}", replica=f"worker-replica-{number % 3}")
    server.wait_for_asking(10)
    world.print(job, "last words", stream="stderr")
    world.end(job.name)
    expected = [*PRINTED, *(f"INFO line {number}" for number in range(300)), "ERROR last words"]
    assert gcloud.finish() == expected


def test_one_task_of_a_training_job(world: World, server: Server, tmp_path: Path) -> None:
    job = world.submit()
    for number in range(2100):
        world.print(job, f"m{number}")
        world.print(job, f"w{number}", replica="worker-replica-0")
    world.end(job.name)
    words = ("ai-platform", "jobs", "stream-logs", "job_1", "--task-name", "worker-replica-0")
    gcloud = Gcloud(server.url, tmp_path, *words)
    assert gcloud.finish() == [f"INFO w{number}" for number in range(2100)]


def test_a_tuning_job_is_followed_with_the_numbers_of_its_trials(
    world: World, server: Server, tmp_path: Path
) -> None:
    """The ends of its trials' runs don't end it."""
    job, (first, second) = world.tune()
    world.print(first, "one")
    gcloud = Gcloud(server.url, tmp_path, "ai-platform", "jobs", "stream-logs", "job_1")
    server.wait_for_asking(1)
    world.print(second, "two")
    world.end(first.name)
    server.wait_for_asking(10)
    world.print(second, "last words")
    world.end(second.name)
    world.end(job.name)
    assert gcloud.finish() == ["INFO 1\tone", "INFO 2\ttwo", "INFO 2\tlast words"]


def test_one_trial_by_the_id_of_its_run(world: World, server: Server, tmp_path: Path) -> None:
    _, (first, second) = world.tune()
    for number in range(1100):
        world.print(first, f"a{number}")
        world.print(second, f"b{number}")
    world.end(second.name)
    gcloud = Gcloud(server.url, tmp_path, "ai-platform", "jobs", "stream-logs", "job_1-2")
    assert gcloud.finish() == [f"INFO 2\tb{number}" for number in range(1100)]


def test_a_tuning_job_of_vertex_that_has_ended(
    world: World, server: Server, tmp_path: Path
) -> None:
    """gcloud itself leaves the numbers of trials out."""
    job, (first, second) = world.tune(TuningJobName("demo", "us-central1", "123"))
    world.print(first, "one")
    world.print(second, "two")
    world.print(first, "three")
    world.end(job.name)
    words = ("ai", "hp-tuning-jobs", "stream-logs", "123", "--region", "us-central1")
    gcloud = Gcloud(server.url, tmp_path, *words)
    assert gcloud.finish() == ["INFO one", "INFO two", "INFO three"]


def test_a_custom_job_that_has_ended(world: World, server: Server, tmp_path: Path) -> None:
    job = world.submit(Location("demo", "us-central1"))
    world.print(job, *TEXTS)
    world.print(job, *(f"line {number}" for number in range(2500)))
    world.end(job.name)
    words = ("ai", "custom-jobs", "stream-logs", job.name.job_id, "--region", "us-central1")
    gcloud = Gcloud(server.url, tmp_path, *words)
    assert gcloud.finish() == [*PRINTED, *(f"INFO line {number}" for number in range(2500))]


def test_a_custom_job_is_followed_past_its_end(
    world: World, server: Server, tmp_path: Path
) -> None:
    """gcloud looks at the state of a custom job once, before all else, so it goes on for ever."""
    job = world.submit(Location("demo", "us-central1"))
    words = ("ai", "custom-jobs", "stream-logs", job.name.job_id, "--region", "us-central1")
    gcloud = Gcloud(server.url, tmp_path, *words)
    lines = gcloud.lines()
    for number in range(3):
        server.wait_for_asking(1)
        world.print(job, f"line {number}")
        severity, _, task, message = next(lines)
        assert (severity, task, message) == ("INFO", "workerpool0-0", f"line {number}")
    world.print(job, "last words")
    world.end(job.name)
    assert next(lines)[3] == "last words"
    gcloud.stop()


def run_gcloud(server: Server, config: Path, *words: str) -> str:
    process = start_gcloud(server.url, config, "logging", *words)
    output, errors = process.communicate(timeout=_TIMEOUT_S)
    assert process.returncode == 0, errors
    return output


def test_entries_of_a_project_are_read(world: World, server: Server, tmp_path: Path) -> None:
    """gcloud adds ``timestamp>=`` of a day ago, and asks for the newest first."""
    job, other = world.start(), world.submit(Location("demo", "us-central1"))
    for number in range(1200):
        world.print(job, f"line {number}")
    world.print(other, "bad", stream="stderr")
    newest = run_gcloud(server, tmp_path, "read", "--limit", "3", "--format", "value(textPayload)")
    assert newest.splitlines() == ["bad", "line 1199", "line 1198"]
    query = 'resource.type=ml_job AND textPayload=~"^line [0-9]+0$" AND -textPayload:5'
    words = ("read", query, "--order", "asc", "--format", "value(textPayload)")
    found = run_gcloud(server, tmp_path, *words).splitlines()
    assert found == [f"line {n}" for n in range(10, 1200, 10) if "5" not in str(n)]
    severe = run_gcloud(server, tmp_path, "read", "severity>=ERROR", "--format", "json")
    (entry,) = json.loads(severe)
    assert entry["resource"]["labels"]["job_id"] == other.name.job_id


def test_entries_are_written_and_their_logs_listed(
    world: World, server: Server, tmp_path: Path
) -> None:
    world.print(world.start(), "x")
    resource = ("--monitored-resource-type", "ml_job", "--monitored-resource-labels")
    words = ("write", "notes", "a note", "--severity", "NOTICE", *resource, "job_id=job_1")
    run_gcloud(server, tmp_path, *words)
    words = ("write", "notes", '{"epoch": 3}', "--payload-type", "json", *resource, "job_id=job_1")
    run_gcloud(server, tmp_path, *words)
    logs = run_gcloud(server, tmp_path, "logs", "list").split()[1:]
    assert logs == ["projects/demo/logs/master-replica-0", "projects/demo/logs/notes"]
    read = run_gcloud(server, tmp_path, "read", "log_id(notes)", "--format", "json")
    second, first = json.loads(read)
    assert (first["severity"], first["textPayload"]) == ("NOTICE", "a note")
    assert second["jsonPayload"] == {"epoch": 3}
