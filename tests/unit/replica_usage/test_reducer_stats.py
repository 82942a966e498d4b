"""What a reduction server says of itself, and what others put in its place."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from footplate.protocol.reports import UsageSample
from footplate.protocol.task import PythonTask, Task
from footplate.replica.usage import sampler

MODULE = PythonTask("footplate_reduction")


def make_reducer(file: str) -> Task:
    return Task(MODULE, environment=(("A", "1"), ("FOOTPLATE_REDUCTION_STATS", file)))


def test_only_reduction_servers_have_the_file() -> None:
    task = make_reducer("reduction.json")
    assert sampler.find_reducer_stats(task, "/work") == "/work/reduction.json"
    assert sampler.find_reducer_stats(Task(MODULE), "/work") == ""
    task.program = PythonTask("trainer.task")
    assert sampler.find_reducer_stats(task, "/work") == ""


def test_it_stays_in_the_folder_of_the_program() -> None:
    task = make_reducer("../../secret")
    assert sampler.find_reducer_stats(task, "/work") == "/work/secret"


def read(file: Path) -> tuple[int | None, float | None]:
    sample = UsageSample(1, 0)
    sampler.read_reducer_stats(str(file), sample)
    return sample.reduced_bytes, sample.awaited_s


def test_what_it_says(tmp_path: Path) -> None:
    file = tmp_path / "reduction.json"
    file.write_text(json.dumps({"received_bytes": 5, "waiting_s": 1.25, "groups": 1}))

    assert read(file) == (5, 1.25)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"received_bytes": "5", "waiting_s": -1}',
        '{"received_bytes": NaN, "waiting_s": Infinity}',
        '{"received_bytes": 1e300}',
        "[" * 4000,
        '{"received_bytes": 1' + "0" * 5000,
    ],
)
def test_what_it_can_not_mean_is_not_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "reduction.json").write_text(text)

    assert read(tmp_path / "reduction.json") == (None, None)


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/etc/hostname")

    for name in ("pipe", "link", "."):
        assert read(tmp_path / name) == (None, None)


def test_before_its_first_word_there_is_nothing_yet(tmp_path: Path) -> None:
    assert read(tmp_path / "missing") == (0, 0.0)
