"""--config files."""

from __future__ import annotations

from pathlib import Path

import pytest

from footplate.cli.config_file import read_config
from footplate.domain.errors import InvalidArgument
from footplate.wire.json_text import JsonObject

SUBMIT = "ai-platform jobs submit training"


def read(path: Path, command: str = SUBMIT) -> JsonObject:
    return read_config(path, command)


@pytest.mark.parametrize(
    ("content", "command", "told"),
    [
        (
            "trainingInput: {}",
            "ai custom-jobs create",
            f"has the field trainingInput of .* `footplate {SUBMIT}`",
        ),
        (
            "workerPoolSpecs: []",
            SUBMIT,
            "has the field workerPoolSpecs of .* `footplate ai custom-jobs create`",
        ),
        (
            "trialJobSpec: {}",
            SUBMIT,
            "has the field trialJobSpec of .* `footplate ai hp-tuning-jobs create`",
        ),
    ],
)
def test_a_file_for_another_command_is_told(
    content: str, command: str, told: str, tmp_path: Path
) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(content)
    with pytest.raises(InvalidArgument, match=told):
        read(path, command)


def test_versions_stay_as_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("trainingInput: {runtimeVersion: 2.10, pythonVersion: 3, n: 1.10}\n")
    assert read(path) == {
        "trainingInput": {"runtimeVersion": "2.10", "pythonVersion": "3", "n": 1.1}
    }


def test_dates_stay_text(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("labels: {day: 2026-11-21}\n")
    assert read(path) == {"labels": {"day": "2026-11-21"}}


def test_an_empty_file_is_an_empty_object(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.touch()
    assert read(path) == {}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a: [", "is not YAML: line 1, column 5: expected"),
        (b"- a\n", "is not a mapping of fields"),
        (b"1: a\n", "is not a mapping of fields"),
        (b"\xff\xfe\x00", "is not UTF-8 text"),
        (b"a: !!python/object/apply:os.getcwd []\n", "could not determine a constructor"),
    ],
)
def test_what_is_wrong_is_said(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_bytes(content)
    with pytest.raises(InvalidArgument, match=message):
        read(path)


LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9)
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LAUGHS, "has over 100000 values, because aliases"),
        ("a: &a [*a]\n", "has over 100000 values, because aliases"),
        ("a: " + "[" * 5000 + "]" * 5000, "is nested too deeply"),
        ("? [a]\n: b\n", "is not YAML: line 1"),
    ],
    ids=["aliases", "within itself", "depth", "key"],
)
def test_what_would_have_no_end_is_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(InvalidArgument) as caught:
        read(path)
    assert message in str(caught.value)


def test_aliases_may_be_used(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("a: &a [1, 2]\nb: [*a, *a]\n")
    assert read(path) == {"a": [1, 2], "b": [[1, 2], [1, 2]]}
