"""``stacks`` of both faces."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import Result

from footplate.domain.stacks import Dump, Frame, Missing, Process, Report, Thread, compare
from footplate.wire.stacks import encode_report
from tests.support.fake_service import Answer, FakeService, failure

TRAINING = "projects/demo/jobs/census_1"
CUSTOM = "projects/demo/locations/us-central1/customJobs/12"


def dump(function: str, line: int) -> Dump:
    outer = Frame("main", "/app/trainer/task.py", line)
    thread = Thread("MainThread", (Frame(function, "/app/trainer/data.py", 41), outer))
    return Dump((Process(7, "python", True, threads=(thread,)),))


def answer(dumps: dict[str, Dump], *missing: Missing) -> Any:
    return encode_report(Report(compare(dumps, missing), dumps))


HANG = {
    "workerpool0-0": dump("all_reduce", 9),
    "workerpool1-0": dump("load_\x1b]0;batch", 8),
    "workerpool1-1": dump("all_reduce", 9),
}


def test_a_hang_of_a_custom_job(invoke: Callable[..., Result], fake: FakeService) -> None:
    silent = Missing("workerpool1-2", "no answer within 10 s")
    fake.refusals["POST", f"/footplate/v1/{CUSTOM}:stacks"] = Answer(body=answer(HANG, silent))
    result = invoke("ai", "custom-jobs", "stacks", "12")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (
        "workerpool0-0, workerpool1-1 (2 of 3) are in all_reduce (trainer/data.py:41)\n"
        "  all_reduce (trainer/data.py:41)\n"
        "  main (trainer/task.py:9)\n"
        "\n"
        "workerpool1-0 differs: it is in load_\\x1b]0;batch (trainer/data.py:41)\n"
        "  load_\\x1b]0;batch (trainer/data.py:41)\n"
        "  main (trainer/task.py:8)\n"
        "\n"
        "Not known:\n"
        "  workerpool1-2: no answer within 10 s\n"
    )
    assert fake.last("POST").json() == {}


def test_some_replicas_of_a_training_job_as_json(
    invoke: Callable[..., Result], fake: FakeService
) -> None:
    resource = answer({"master-replica-0": dump("train", 3)})
    fake.refusals["POST", f"/footplate/v1/{TRAINING}:stacks"] = Answer(body=resource)
    words = ("--replica=master-replica-0", "--replica", "worker-replica-0", "--format=json")
    result = invoke("ai-platform", "jobs", "stacks", "census_1", *words)
    assert json.loads(result.stdout) == resource
    assert fake.last("POST").json() == {"replicas": ["master-replica-0", "worker-replica-0"]}


def test_where_nothing_is_known_it_ends_with_1(
    invoke: Callable[..., Result], fake: FakeService
) -> None:
    resource = answer({}, Missing("master-replica-0", "py-spy isn't permitted"))
    fake.refusals["POST", f"/footplate/v1/{TRAINING}:stacks"] = Answer(body=resource)
    result = invoke("ai-platform", "jobs", "stacks", "census_1")
    assert (result.exit_code, result.stdout, result.stderr) == (
        1,
        "Not known:\n  master-replica-0: py-spy isn't permitted\n",
        "",
    )


def test_a_job_that_does_not_run(invoke: Callable[..., Result], fake: FakeService) -> None:
    words = f"{TRAINING} is QUEUED: none of its programs runs"
    fake.refusals["POST", f"/footplate/v1/{TRAINING}:stacks"] = failure(
        400, "FAILED_PRECONDITION", words
    )
    result = invoke("ai-platform", "jobs", "stacks", "census_1")
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", f"Error: {words}\n")


@pytest.mark.parametrize("body", [{}, {"comparison": 3}])
def test_a_server_that_answers_something_else(
    invoke: Callable[..., Result], fake: FakeService, body: dict[str, object]
) -> None:
    fake.refusals["POST", f"/footplate/v1/{TRAINING}:stacks"] = Answer(body=body)
    result = invoke("ai-platform", "jobs", "stacks", "census_1")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: the server sent an invalid answer: comparison")


def test_a_format_that_is_none(invoke: Callable[..., Result]) -> None:
    result = invoke("ai", "custom-jobs", "stacks", "12", "--format=yaml")
    assert result.exit_code == 2
    assert "'yaml' is not one of 'text', 'json'" in result.stderr
