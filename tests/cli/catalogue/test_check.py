"""``footplate catalogue check``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

CHANGES = """\
[machine_types.rack]
vcpus = 32
memory_gb = 128
[[attachments]]
machine_types = ["n1-standard-8"]
accelerators.NVIDIA_TESLA_T4 = [1]
accelerators.NVIDIA_L4 = [1]
[regions.us-west4]
zones.a = ["NVIDIA_L4"]
[remove]
machine_types = ["n1-standard-1"]
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "own.toml"


def test_a_valid_file_says_what_it_changes(file: Path, invoke: Callable[..., Result]) -> None:
    file.write_text(CHANGES)
    result = invoke("catalogue", "check", "own.toml")
    assert result.exit_code == 0
    assert result.stderr == "The file own.toml is valid: it adds 1, changes 2, removes 1 entries.\n"
    heading, *rows = result.stdout.splitlines()
    assert heading.split() == ["CHANGE", "KIND", "NAME", "DETAILS"]
    assert [" ".join(row.split()) for row in rows] == [
        "removes machine type n1-standard-1",
        (
            "changes machine type n1-standard-8 accelerators.NVIDIA_TESLA_T4 1 2 4 -> 1; "
            "accelerators.NVIDIA_L4 none -> 1"
        ),
        "adds machine type rack family COMPUTE_ENGINE; vcpus 32; memoryGb 128",
        (
            "changes region us-west4 "
            "zones.us-west4-a NVIDIA_H100_80GB NVIDIA_H100_MEGA_80GB NVIDIA_L4 TPU_V5_LITEPOD -> "
            "NVIDIA_L4; zones.us-west4-b nothing -> none; zones.us-west4-c NVIDIA_L4 -> none"
        ),
    ]


def test_changes_for_programs(file: Path, invoke: Callable[..., Result]) -> None:
    file.write_text('[remove]\nscale_tiers = ["BASIC_TPU"]\n')
    found = json.loads(invoke("catalogue", "check", "own.toml", "--format=json").stdout)
    assert found == [{"change": "removes", "kind": "scale tier", "name": "BASIC_TPU"}]


def test_a_file_that_changes_nothing(file: Path, invoke: Callable[..., Result]) -> None:
    file.write_text("")
    result = invoke("catalogue", "check", "own.toml")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "The file own.toml is valid: it adds 0, changes 0, removes 0 entries.\n"


def test_what_is_wrong_is_told_line_by_line(file: Path, invoke: Callable[..., Result]) -> None:
    file.write_text("[machine_types.rack]\nvcpus = -1\nmemory_gb = 4\nvcpu = 1\n")
    result = invoke("catalogue", "check", "own.toml")
    assert result.exit_code == 1
    assert result.stdout == (
        "own.toml:2: machine_types.rack.vcpus: -1 given; allowed: a whole number from 1 to "
        "100000\n"
        "own.toml:4: machine_types.rack.vcpu: unknown key; did you mean vcpus?\n"
    )
    assert result.stderr == "Error: 2 things are wrong with own.toml\n"


def test_a_missing_file(file: Path, invoke: Callable[..., Result]) -> None:
    result = invoke("catalogue", "check", "own.toml")
    assert result.exit_code == 1
    assert result.stdout == "own.toml: the file can't be read: No such file or directory\n"


def test_names_in_a_file_give_the_terminal_no_commands(
    file: Path, invoke: Callable[..., Result]
) -> None:
    file.write_text('[machine_types."\\u001b]0;x\\u0007"]\nvcpus = 1\nmemory_gb = 1\n')
    result = invoke("catalogue", "check", "own.toml")
    assert result.exit_code == 1
    assert "\x1b" not in result.stdout + result.stderr
