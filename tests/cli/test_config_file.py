"""--config files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from footplate.cli.config_file import read_config
from footplate.domain.errors import InvalidArgument

if TYPE_CHECKING:
    from pathlib import Path


def test_versions_stay_as_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("trainingInput: {runtimeVersion: 2.10, pythonVersion: 3, n: 1.10}\n")
    assert read_config(path) == {
        "trainingInput": {"runtimeVersion": "2.10", "pythonVersion": "3", "n": 1.1}
    }


def test_dates_stay_text(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("labels: {day: 2026-11-21}\n")
    assert read_config(path) == {"labels": {"day": "2026-11-21"}}


def test_an_empty_file_is_an_empty_object(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.touch()
    assert read_config(path) == {}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a: [", "is not YAML: line 1, column 5: expected"),
        (b"- a\n", "holds no mapping of fields"),
        (b"1: a\n", "holds no mapping of fields"),
        (b"\xff\xfe\x00", "is not UTF-8 text"),
        (b"a: !!python/object/apply:os.getcwd []\n", "could not determine a constructor"),
    ],
)
def test_what_is_wrong_is_said(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_bytes(content)
    with pytest.raises(InvalidArgument, match=message):
        read_config(path)
