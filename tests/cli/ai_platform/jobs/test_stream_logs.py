"""Following a job to its end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import Result

from footplate.testing.service import FOOTPLATE
from tests.support.deadlines import EVENT_S
from tests.support.fake_service import Answer, FakeService, failure

NAME = "projects/demo/jobs/census_1"
JOBS = ("ai-platform", "jobs")


@pytest.fixture(autouse=True)
def job(fake: FakeService) -> None:
    fake.jobs[NAME] = {"jobId": "census_1", "state": "RUNNING"}


def line(cursor: int, message: str, replica: str = "master-replica-0") -> dict[str, object]:
    return {"cursor": cursor, "severity": "INFO", "replica": replica, "message": message}


def ending(fake: FakeService, state: str, *lines: dict[str, object]) -> Iterator[dict[str, object]]:
    """The lines, and then the end of the job."""
    yield from lines
    fake.jobs[NAME]["state"] = state


def test_lines_in_columns_and_the_end(invoke: Callable[..., Result], fake: FakeService) -> None:
    lines = (line(1, "epoch 1"), line(2, "hello", "worker-replica-0"), line(3, "done\tat last"))
    fake.lines[NAME] = ending(fake, "SUCCEEDED", *lines)
    result = invoke("ai-platform", "jobs", "stream-logs", "census_1")
    assert result.exit_code == 0
    assert result.stdout == (
        "master-replica-0  epoch 1\nworker-replica-0  hello\nmaster-replica-0  done\tat last\n"
    )
    assert result.stderr == "Job census_1 succeeded.\n"


def test_a_failed_job_says_its_cause(invoke: Callable[..., Result], fake: FakeService) -> None:
    fake.jobs[NAME]["errorMessage"] = "master-replica-0 exited with code 1: ValueError: no"
    fake.lines[NAME] = ending(fake, "FAILED", line(1, "ValueError: no"))
    result = invoke("ai-platform", "jobs", "stream-logs", "census_1")
    assert result.exit_code == 1
    assert result.stderr == (
        "Job census_1 failed: master-replica-0 exited with code 1: ValueError: no\n"
    )


def test_one_replica_only(invoke: Callable[..., Result], fake: FakeService) -> None:
    fake.jobs[NAME]["state"] = "SUCCEEDED"
    fake.lines[NAME] = [line(1, "mine"), line(2, "another's", "worker-replica-0")]
    words = ("--task-name=master-replica-0", "--polling-interval=1", "--allow-multiline-logs")
    result = invoke("ai-platform", "jobs", "stream-logs", "census_1", *words)
    assert result.stdout == "master-replica-0  mine\n"


def test_lines_of_trials_say_so(invoke: Callable[..., Result], fake: FakeService) -> None:
    lines = [line(1, "one") | {"trial": "1"}, line(2, "ten") | {"trial": "10"}]
    fake.lines[NAME] = ending(fake, "SUCCEEDED", *lines, line(3, "two") | {"trial": "2"})
    result = invoke("ai-platform", "jobs", "stream-logs", "census_1")
    assert result.stdout == (
        "trial 1  master-replica-0  one\n"
        "trial 10  master-replica-0  ten\n"
        "trial 2  master-replica-0   two\n"
    )


def test_one_trial_is_followed_to_its_end(invoke: Callable[..., Result], fake: FakeService) -> None:
    fake.jobs[f"{NAME}-3"] = {"jobId": "census_1-3", "state": "FAILED", "errorMessage": "no"}
    fake.lines[f"{NAME}-3"] = [line(1, "mine") | {"trial": "3"}]
    result = invoke("ai-platform", "jobs", "stream-logs", "census_1", "--trial=3")
    assert (result.exit_code, result.stdout) == (1, "trial 3  master-replica-0  mine\n")
    assert result.stderr == "Job census_1-3 failed: no\n"


def test_a_trial_that_is_not_there(invoke: Callable[..., Result], fake: FakeService) -> None:
    told = {"name": NAME, "state": "RUNNING", "metrics": [], "parameters": [], "trials": []}
    fake.trials[NAME] = [{**told, "counts": {"trials": 4, "parallel": 2, "failed": 0}, "best": []}]
    result = invoke("ai-platform", "jobs", "stream-logs", "census_1", "--trial=3")
    assert result.exit_code == 1
    assert result.stderr == (
        "Error: job census_1 has no trial 3: the job has no trials yet; see `footplate "
        "ai-platform jobs trials census_1`\n"
    )


def test_trials_of_a_job_without_any(invoke: Callable[..., Result]) -> None:
    result = invoke("ai-platform", "jobs", "stream-logs", "census_1", "--trial=3")
    assert result.exit_code == 1
    assert result.stderr.endswith("is not a tuning job, so it has no trials\n")


def test_a_replica_that_is_not_there(invoke: Callable[..., Result], fake: FakeService) -> None:
    told = "there is no replica 'ps-1'; there are master-replica-0"
    fake.refusals["GET", f"/footplate/v1/{NAME}/logs"] = failure(404, "NOT_FOUND", told)
    result = invoke("ai-platform", "jobs", "stream-logs", "census_1", "--task-name=ps-1")
    assert (result.exit_code, result.stderr) == (1, f"Error: {told}\n")


def test_a_broken_stream_goes_on_where_it_was(
    invoke: Callable[..., Result], fake: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("footplate.cli.follow.RETRY_S", 0.01)
    first = threading.Event()

    class Lines(list[dict[str, object]]):
        def __iter__(self) -> Iterator[dict[str, object]]:
            if not first.is_set():
                first.set()
                return iter([line(1, "one")])
            return ending(fake, "SUCCEEDED", line(1, "one"), line(2, "two"))

    fake.lines[NAME] = Lines()
    result = invoke("ai-platform", "jobs", "stream-logs", "census_1")
    assert result.stdout == "master-replica-0  one\nmaster-replica-0  two\n"


def test_progress_is_shown_while_waiting(invoke: Callable[..., Result], fake: FakeService) -> None:
    fake.events[NAME] = [
        {"number": 1, "kind": "QUEUED", "message": ""},
        {"number": 2, "kind": "WARNING", "message": "no runtimeVersion"},
        {"number": 3, "kind": "WAITING", "message": "Waits for 2 GPUs on this machine"},
        {"number": 4, "kind": "PREPARING", "message": "38 of 52 packages", "replica": "r-0"},
        {"number": 5, "kind": "FAILED", "message": "told by the verdict"},
    ]

    def lines() -> Iterator[dict[str, object]]:
        path = f"GET /footplate/v1/{NAME}/events"
        asked = threading.Event()
        while path not in fake.calls():
            asked.wait(0.01)
        asked.wait(0.2)  # the answer travels on a connection of its own
        fake.jobs[NAME]["state"] = "SUCCEEDED"
        yield line(1, "hello")

    fake.lines[NAME] = lines()
    result = invoke("ai-platform", "jobs", "stream-logs", "census_1")
    assert result.stderr == (
        "QUEUED\nWARNING: no runtimeVersion\nWaits for 2 GPUs on this machine\n"
        "r-0  PREPARING: 38 of 52 packages\nJob census_1 succeeded.\n"
    )


def test_a_start_is_told_before_the_first_line(
    invoke: Callable[..., Result], fake: FakeService
) -> None:
    """Also where the line is stored a moment before it, as with the report that brings both."""
    begun = [{"number": 1, "kind": "QUEUED", "message": ""}]
    started = [*begun, {"number": 2, "kind": "RUNNING", "message": ""}]

    class Events(list[dict[str, object]]):
        looks = 0
        spoken = False

        def __iter__(self) -> Iterator[dict[str, object]]:
            self.looks += self.spoken
            return iter(started if self.looks > 2 else begun)

    events = Events()

    def lines() -> Iterator[dict[str, object]]:
        events.spoken = True
        yield from ending(fake, "SUCCEEDED", line(1, "hello"))

    fake.events[NAME], fake.lines[NAME] = events, lines()
    result = invoke("ai-platform", "jobs", "stream-logs", "census_1")
    assert result.output == "QUEUED\nRUNNING\nmaster-replica-0  hello\nJob census_1 succeeded.\n"


def test_how_a_replica_is_isolated_is_told_again_only_if_it_changed(
    invoke: Callable[..., Result], fake: FakeService
) -> None:
    told = ("by a cgroup", "by a cgroup", "by nothing", "by nothing")
    fake.events[NAME] = [
        {"number": at, "kind": "ISOLATION", "message": message, "replica": "r-0"}
        for at, message in enumerate(told, 1)
    ]
    fake.lines[NAME] = ending(fake, "SUCCEEDED", line(1, "hello"))
    result = invoke("ai-platform", "jobs", "stream-logs", "census_1")
    assert result.stderr == (
        "r-0  ISOLATION: by a cgroup\nr-0  ISOLATION: by nothing\nJob census_1 succeeded.\n"
    )


def test_what_happened_right_before_the_end_is_told(
    invoke: Callable[..., Result], fake: FakeService
) -> None:
    def lines() -> Iterator[dict[str, object]]:
        yield line(1, "hello")
        fake.events[NAME] = [
            {"number": 1, "kind": "STACKS", "message": "all wait"},
            {"number": 2, "kind": "FAILED", "message": "told by the verdict"},
        ]
        fake.jobs[NAME]["state"] = "FAILED"

    fake.lines[NAME] = lines()
    result = invoke("ai-platform", "jobs", "stream-logs", "census_1")
    assert result.stderr == "STACKS: all wait\nJob census_1 failed.\n"


def test_a_server_that_was_away_is_found_again(
    invoke: Callable[..., Result],
    fake: FakeService,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Its address may have changed: it is looked up anew each time."""
    monkeypatch.setattr("footplate.cli.follow.RETRY_S", 0.01)
    monkeypatch.delenv("FOOTPLATE_URL")
    server_file = tmp_path / "server.json"
    server_file.write_text(f'{{"url": "{fake.url}"}}')
    broken = threading.Event()

    class Lines(list[dict[str, object]]):
        def __iter__(self) -> Iterator[dict[str, object]]:
            if broken.is_set():
                return ending(fake, "SUCCEEDED", line(1, "one"), line(2, "two"))
            return self.breaking()

        def breaking(self) -> Iterator[dict[str, object]]:
            yield line(1, "one")
            broken.set()
            server_file.unlink()
            threading.Timer(1, server_file.write_text, [f'{{"url": "{fake.url}"}}']).start()

    fake.lines[NAME] = Lines()
    result = invoke("ai-platform", "jobs", "stream-logs", "census_1", f"--data-dir={tmp_path}")
    assert result.stdout == "master-replica-0  one\nmaster-replica-0  two\n"
    assert result.stderr == (
        "The server doesn't answer; the job continues. Waiting for the server...\nJob census_1 "
        "succeeded.\n"
    )


def test_a_server_that_stays_away_is_given_up(
    invoke: Callable[..., Result], fake: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("footplate.cli.follow.RETRY_S", 0.01)
    monkeypatch.setattr("footplate.cli.follow.TIMEOUT_S", 0.02)
    away = {"error": {"code": 503, "status": "UNAVAILABLE", "message": "not now"}}
    fake.refusals["GET", "/healthz"] = Answer(503, away)
    result = invoke("ai-platform", "jobs", "stream-logs", "census_1")
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (1, "Error: not now")


def on_a_terminal(*words: str) -> tuple[int, str]:
    """The exit code of ``footplate ai-platform jobs WORDS``, and what a terminal got."""
    ours, terminal = os.openpty()
    with subprocess.Popen(
        (*FOOTPLATE, *JOBS, *words),
        stdout=terminal,
        stderr=terminal,
    ) as process:
        os.close(terminal)
        shown = b""
        with suppress(OSError), os.fdopen(ours, "rb", buffering=0) as screen:
            while chunk := screen.read(65_536):
                shown += chunk
        return process.wait(EVENT_S), shown.decode()


@pytest.mark.skipif(os.name != "posix", reason="terminals of POSIX")
def test_progress_gives_way_on_a_terminal_and_a_restart_stays(fake: FakeService) -> None:
    fake.events[NAME] = [
        {"number": 1, "kind": "PREPARING", "message": "passes"},
        {"number": 2, "kind": "REPLICA_FAILED", "message": "was lost", "replica": "r-0"},
        {"number": 3, "kind": "RESTART", "message": "was lost; starts again", "replica": "r-0"},
        {"number": 4, "kind": "ISOLATION", "message": "passes", "replica": "r-0"},
    ]
    fake.lines[NAME] = ending(fake, "SUCCEEDED", line(1, "hello"))
    _, text = on_a_terminal("stream-logs", "census_1", f"--url={fake.url}")
    kept = [re.sub("\x1b\\[[0-9]*m|\r", "", each) for each in text.split("\n")]
    assert [each.rpartition("\x1b[2K")[2] for each in kept] == [
        "r-0  REPLICA_FAILED: was lost",
        "r-0  RESTART: starts again",
        "master-replica-0  hello",
        "Job census_1 succeeded.",
        "",
    ]


@pytest.mark.skipif(os.name != "posix", reason="terminals of POSIX")
def test_a_program_gives_no_commands_to_the_terminal(fake: FakeService) -> None:
    hostile = "\x1b]0;title\x07\x1b]52;c;cm0gLXJm\x07\x1b[2J\x9b6n\x1bc"
    fake.events[NAME] = [{"number": 1, "kind": "WARNING", "message": hostile}]
    fake.jobs[NAME]["errorMessage"] = f"exited with code 1: {hostile}"
    fake.lines[NAME] = ending(fake, "FAILED", line(1, f"\x1b[31mred\x1b[0m 50%\r{hostile}"))
    code, text = on_a_terminal("stream-logs", "census_1", f"--url={fake.url}")
    assert code == 1
    assert "\x1b[31mred\x1b[0m 50%\r\\x1b]0;title\\x07" in text
    assert "Job census_1 failed: exited with code 1: \\x1b]0;title" in text
    assert not set("\x07\x9b") & set(text)
    assert set(re.findall("\x1b(.[0-9;]*.)", text)) <= {"[0m", "[31m", "[33m", "[2m", "[2K"}


@pytest.mark.skipif(os.name != "posix", reason="terminals of POSIX")
@pytest.mark.parametrize("words", [("describe", "census_1"), ("list",)])
def test_nor_does_the_error_of_a_job(fake: FakeService, words: tuple[str, ...]) -> None:
    fake.jobs[NAME]["errorMessage"] = "no\x1b]0;title\x07"
    layout = "--format=value(jobId,errorMessage)"
    _, text = on_a_terminal(*words, layout, f"--url={fake.url}")
    assert "census_1\tno\\x1b]0;title\\x07" in text
    assert "\x07" not in text


@pytest.mark.skipif(os.name != "posix", reason="terminals of POSIX")
def test_nor_does_an_event_hide_the_next_ones(fake: FakeService) -> None:
    fake.events[NAME] = [{"number": 1, "kind": "TRIAL", "message": "trial 1: x=\x1b[8mhidden"}]
    _, text = on_a_terminal("events", "census_1", f"--url={fake.url}")
    assert "trial 1: x=\\x1b[8mhidden" in text


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_leaves_the_job_alone(fake: FakeService) -> None:
    waiting = threading.Event()

    def lines() -> Iterator[dict[str, object]]:
        yield line(1, "working")
        waiting.wait(EVENT_S)

    fake.lines[NAME] = lines()
    words = ["ai-platform", "jobs", "stream-logs", "census_1", f"--url={fake.url}"]
    with subprocess.Popen(
        (*FOOTPLATE, *words),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "master-replica-0  working\n"
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=EVENT_S)
        waiting.set()
    assert process.returncode == 130
    assert re.sub(r"--url=\S+", "--url=URL", told) == (
        "\nNo longer following job census_1; the job continues.\n  follow it again: footplate "
        "ai-platform jobs stream-logs census_1 --url=URL\n  end it:          footplate "
        "ai-platform jobs cancel census_1 --url=URL\n"
    )
    assert "POST /v1/projects/demo/jobs/census_1:cancel" not in fake.calls()
