"""What people see of ``footplate-reduction``."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from footplate_reduction import __version__
from footplate_reduction.client import Client, WireType
from reduction.tests.rig import LONG_S, SETTINGS, as_workers

if TYPE_CHECKING:
    from reduction.tests.rig import ReducerProcesses


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "footplate_reduction", *arguments],
        env={**os.environ, **SETTINGS, **environment},
        capture_output=True,
        text=True,
        timeout=LONG_S,
        check=False,
    )


def test_info_says_what_is_here() -> None:
    output = run("info")
    assert output.returncode == 0
    lines = output.stdout.splitlines()
    assert lines[0] == f"footplate-reduction {__version__}"
    assert lines[1].endswith(f", NumPy {np.__version__}")
    assert lines[2] in ("adds with avx2", "adds with baseline")


@pytest.mark.parametrize(
    ("environment", "output"),
    [
        ({"FOOTPLATE_REDUCTION_TOKEN": "short"}, "must have at least 16"),
        ({"FOOTPLATE_REDUCTION_JOB": ""}, "FOOTPLATE_REDUCTION_JOB is not set"),
        ({"FOOTPLATE_REDUCTION_PORT": "x"}, "FOOTPLATE_REDUCTION_PORT is 'x'"),
    ],
)
def test_a_wrong_setting_is_said_in_one_line(environment: dict[str, str], output: str) -> None:
    ended = run("reducer", **environment)
    assert ended.returncode == 2
    assert output in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_a_port_that_is_taken_is_said_in_one_line(reducers: ReducerProcesses) -> None:
    (reducer,) = reducers.start()
    port = reducer.address.rpartition(":")[2]
    ended = run("reducer", "--host", "127.0.0.1", "--port", port)
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"footplate-reduction: can't listen on 127.0.0.1:{port}: ")


def test_a_reducer_tells_who_comes_and_goes_and_counts(
    reducers: ReducerProcesses, tmp_path: Path
) -> None:
    path = tmp_path / "stats.json"
    (reducer,) = reducers.start(1, "--stats", str(path))

    def act(client: Client) -> None:
        for _ in range(3):
            client.all_reduce(np.ones(1024, np.float32), WireType.FLOAT32)

    as_workers(2, [reducer.address], act, group="9/0")
    reducer.await_line("group 9/0 lane 0: all workers have left; the reducer added parts of 3 ")
    output = "\n".join(reducer.lines)
    for rank in range(2):
        assert f"group 9/0 lane 0: worker {rank} of 2 joined from 127.0.0.1:" in output
    assert "group 9/0 lane 0: the reducer begins with 2 workers" in output
    reducer.signal(signal.SIGTERM)
    assert reducer.await_end() == 0
    statistics = json.loads(path.read_text())
    assert statistics["received_bytes"] == 3 * 2 * 4096
    assert statistics["collectives"] == 3
    assert statistics["groups"] == 0
    assert list(tmp_path.iterdir()) == [path]


def test_statistics_are_written_while_it_serves(reducers: ReducerProcesses, tmp_path: Path) -> None:
    path = tmp_path / "stats.json"
    (reducer,) = reducers.start(1, "--stats", str(path))
    end = time.monotonic() + LONG_S
    while not path.exists():
        assert time.monotonic() < end
        as_workers(1, [reducer.address], lambda _: None)
    assert json.loads(path.read_text())["received_bytes"] == 0


def test_statistics_that_cannot_be_written_are_no_reason_to_end(
    reducers: ReducerProcesses, tmp_path: Path
) -> None:
    (reducer,) = reducers.start(1, "--stats", str(tmp_path / "nowhere" / "stats.json"))
    reducer.await_line("statistics can't be written")
    as_workers(1, [reducer.address], lambda _: None)
