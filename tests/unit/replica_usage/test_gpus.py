"""What GPUs do, as a nvidia-smi says that a test has made."""

from __future__ import annotations

from pathlib import Path

import pytest

from footplate.protocol.reports import GpuSample
from footplate.protocol.task import Task
from footplate.replica.isolation.spawn import SpawnFailed
from footplate.replica.usage.sampler import VISIBLE, Query, list_gpus, parse
from tests.support.replica_context import make_task
from tests.support.supervisor_process import wait_until

MIB = 1 << 20


def fake(folder: Path, script: str) -> dict[str, str]:
    """An environment whose nvidia-smi is ``script``."""
    tool = folder / "nvidia-smi"
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)
    return {"PATH": f"{folder}:/usr/bin:/bin", "SECRET": "x"}


def finish(query: Query) -> None:
    while query.stream.open:
        query.stream.read()
    wait_until(query.reap, "the end of nvidia-smi")


@pytest.mark.parametrize(
    ("line", "gpu"),
    [
        ("0, 97, 1523", {"id": "0", "percent": 97, "memory_bytes": 1523 * MIB}),
        ("3, [N/A], 12", {"id": "3", "memory_bytes": 12 * MIB}),
        ("1, [Not Supported], [N/A]", {"id": "1"}),
        ("No devices were found", None),
        ("", None),
        ("x, 1, 2", None),
        ("0, 1", None),
    ],
)
def test_a_line_of_its_answer(line: str, gpu: dict[str, object] | None) -> None:
    found = parse(line)
    assert (None if found is None else found.encode()) == gpu


@pytest.mark.parametrize(
    ("task", "gpus"),
    [
        (make_task(), []),
        (make_task(environment=((VISIBLE, "0"),)), []),
        (make_task(gpus=True, environment=(("A", "1"), (VISIBLE, "2,3"))), ["2", "3"]),
        (make_task(gpus=True, environment=((VISIBLE, ""),)), []),
        (make_task(gpus=True, environment=((VISIBLE, ";x"),)), []),
    ],
)
def test_only_the_real_gpus_of_the_program_are_asked_for(task: Task, gpus: list[str]) -> None:
    assert list_gpus(task) == gpus


def test_it_is_asked_for_those_gpus_with_nothing_of_our_environment(tmp_path: Path) -> None:
    script = f'echo "$@" > {tmp_path}/asked; env > {tmp_path}/env; echo "0, 9, 1"; echo "2, 8, 0"'
    query = Query(["0", "2"], fake(tmp_path, script), until=1.0)
    finish(query)
    assert query.answer() == (GpuSample("0", 9, MIB), GpuSample("2", 8, 0))
    words = (tmp_path / "asked").read_text().split()
    assert words[:2] == ["-i", "0,2"]
    assert "SECRET" not in (tmp_path / "env").read_text()


def test_one_that_hangs_is_ended(tmp_path: Path) -> None:
    query = Query(["0"], fake(tmp_path, "exec sleep 600"), until=1.0)
    assert not query.reap()
    query.close()
    wait_until(query.reap, "the end of nvidia-smi")
    assert query.answer() == ()


def test_one_that_says_too_much_is_not_remembered(tmp_path: Path) -> None:
    query = Query(["0"], fake(tmp_path, "yes '0, 1, 2' | head -n 100000"), until=1.0)
    finish(query)
    assert len(query.answer()) <= 256


def test_none_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises((OSError, SpawnFailed)):
        Query(["0"], {"PATH": str(tmp_path)}, until=1.0)
