"""footplate tensorboard: TensorBoard itself, on the event files of a job or a folder."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from click.testing import Result

from footplate.testing.service import FOOTPLATE, outside
from tests.support.fake_service import FakeService

LIMIT_S = 120


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_folder_is_shown_until_ctrl_c(tmp_path: Path) -> None:
    """And no module in it is run, though it is the working directory."""
    (tmp_path / "tensorboard.py").write_text("raise SystemExit('a program wrote this')")
    (tmp_path / "events.out.tfevents.1.host").write_bytes(b"")
    with subprocess.Popen(
        [*FOOTPLATE, "tensorboard", str(tmp_path), "--port=0"],
        env={**outside(os.environ), "HOME": str(tmp_path)},
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as board:
        timer = threading.Timer(LIMIT_S, board.kill)
        timer.start()
        assert board.stdout is not None
        said = ""
        while not (found := re.search(r"http://[a-z0-9.]+:[0-9]+/", said)):
            line = board.stdout.readline()
            assert line, said
            said += line
        answer = httpx.get(f"{found.group()}data/environment", trust_env=False, timeout=LIMIT_S)
        board.send_signal(signal.SIGINT)
        said += board.stdout.read()
        timer.cancel()
    assert "127.0.0.1" in found.group() or "localhost" in found.group()
    assert answer.json()["data_location"] == str(tmp_path)
    assert "Traceback" not in said


def test_without_event_files_there_is_a_sentence(
    invoke: Callable[..., Result], tmp_path: Path
) -> None:
    for place in (str(tmp_path), str(tmp_path / "missing")):
        result = invoke("tensorboard", place)
        assert result.exit_code == 1
        assert f"{place}: there are no event files in {place}; programs" in result.stderr


def test_a_job_without_a_directory_has_no_event_files(
    invoke: Callable[..., Result], fake: FakeService
) -> None:
    fake.jobs["projects/demo/jobs/census_1"] = {"jobId": "census_1", "state": "QUEUED"}
    result = invoke("tensorboard", "census_1")
    assert result.exit_code == 1
    assert "census_1: the job has no jobDir in a bucket, so it has no event files" in result.stderr


def test_buckets_of_another_machine_are_to_be_copied(
    invoke: Callable[..., Result], fake: FakeService
) -> None:
    result = invoke("tensorboard", "gs://stage/logs")
    assert result.exit_code == 1
    assert "pass the folder: footplate storage cp -r gs://stage/logs ." in result.stderr
