"""The files by which Google's gRPC clients in a program call the service."""

from __future__ import annotations

from pathlib import Path

import pytest

from footplate.protocol.task import Task
from footplate.replica.api_account import make_account
from tests.support.replica_context import make_task

TASK = make_task(account="{}", authority="ours\n")
LED = {"grpc_proxy": "http://127.0.0.1:8472"}


def test_the_files_and_who_names_them(tmp_path: Path) -> None:
    machine = tmp_path / "machine.pem"
    machine.write_text("theirs\n")
    made = make_account(TASK, LED, str(tmp_path), "/seen", str(machine))
    assert made == {
        "GOOGLE_APPLICATION_CREDENTIALS": "/seen/account.json",
        "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH": "/seen/grpc_roots.pem",
    }
    assert (tmp_path / "account.json").read_text() == "{}"
    assert (tmp_path / "grpc_roots.pem").read_text() == "theirs\nours\n"


def test_variables_of_the_job_stay(tmp_path: Path) -> None:
    own = {**LED, "GOOGLE_APPLICATION_CREDENTIALS": "/own.json"}
    made = make_account(TASK, own, str(tmp_path))
    assert list(made) == ["GRPC_DEFAULT_SSL_ROOTS_FILE_PATH"]


@pytest.mark.parametrize(
    ("task", "environment"), [(make_task(), LED), (TASK, {}), (TASK, {"grpc_proxy": ""})]
)
def test_nothing_is_made_for_who_is_not_led(
    tmp_path: Path, task: Task, environment: dict[str, str]
) -> None:
    assert make_account(task, environment, str(tmp_path)) == {}
    assert list(tmp_path.iterdir()) == []
