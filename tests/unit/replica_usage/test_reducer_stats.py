"""What a reduction server says of itself, and what others put in its place."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from footplate.replica.usage import sampler

if TYPE_CHECKING:
    from pathlib import Path

REDUCER = {
    "program": {"module": "footplate_reduction"},
    "environment": [["A", "1"], ["FOOTPLATE_REDUCTION_STATS", "reduction.json"]],
}


def test_only_reduction_servers_have_the_file() -> None:
    assert sampler.find_reducer_stats(REDUCER, "/work") == "/work/reduction.json"
    assert (
        sampler.find_reducer_stats({**REDUCER, "program": {"module": "trainer.task"}}, "/work")
        == ""
    )
    assert sampler.find_reducer_stats({**REDUCER, "environment": []}, "/work") == ""


def test_it_stays_in_the_folder_of_the_program() -> None:
    elsewhere = [["FOOTPLATE_REDUCTION_STATS", "../../secret"]]
    assert (
        sampler.find_reducer_stats({**REDUCER, "environment": elsewhere}, "/work") == "/work/secret"
    )


def test_what_it_says(tmp_path: Path) -> None:
    file = tmp_path / "reduction.json"
    file.write_text(json.dumps({"received_bytes": 5, "waiting_s": 1.25, "groups": 1}))

    assert sampler.read_reducer_stats(str(file)) == {"reduced_bytes": 5, "awaited_s": 1.25}


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

    assert sampler.read_reducer_stats(str(tmp_path / "reduction.json")) == {}


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/etc/hostname")

    for name in ("pipe", "link", "."):
        assert sampler.read_reducer_stats(str(tmp_path / name)) == {}


def test_before_its_first_word_there_is_nothing_yet(tmp_path: Path) -> None:
    assert sampler.read_reducer_stats(str(tmp_path / "missing")) == {
        "reduced_bytes": 0,
        "awaited_s": 0.0,
    }
