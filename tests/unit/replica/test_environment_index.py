"""Environments are found again by what they were made for."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from footplate.replica import environment_index
from footplate.replica.environment_index import EnvironmentIndex
from footplate.replica.prepared import Prepared

NAME, OTHER = "a" * 64, "b" * 64
ANSWER = Prepared(sys.executable, ("/bin",), notes=("a note",))


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A cache that has an answer."""
    EnvironmentIndex(str(tmp_path), ["/opt/*"]).keep(NAME, ANSWER)
    return tmp_path


def test_what_was_kept_is_found(kept: Path) -> None:
    assert EnvironmentIndex(str(kept), ["/opt/*"]).find(NAME) == ANSWER
    assert EnvironmentIndex(str(kept), ["/opt/*"]).find(OTHER) is None


def test_a_server_that_looks_elsewhere_for_interpreters_asks_anew(kept: Path) -> None:
    assert EnvironmentIndex(str(kept), ()).find(NAME) is None


def test_an_interpreter_that_was_replaced_ends_it(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("one")
    found = EnvironmentIndex(str(tmp_path), ())
    found.keep(NAME, Prepared(str(python), ("/bin",)))
    assert found.find(NAME) is not None
    python.write_text("another")
    assert found.find(NAME) is None
    python.unlink()
    assert found.find(NAME) is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"answer": 3}', '{"answer": {}, "pythons": []}'])
def test_a_damaged_one_is_none(kept: Path, text: str) -> None:
    (kept / "answers" / f"{NAME}.json").write_text(text)
    assert EnvironmentIndex(str(kept), ["/opt/*"]).find(NAME) is None


@pytest.mark.parametrize("name", ["", "a", "../" + "a" * 61, "a" * 63 + "/", "é" * 64])
def test_nothing_is_found_outside(kept: Path, name: str) -> None:
    (kept / "answers" / "a").write_text(json.dumps({}))
    assert EnvironmentIndex(str(kept), ["/opt/*"]).find(name) is None
    with pytest.raises(ValueError, match="names no preparation"):
        EnvironmentIndex(str(kept), ["/opt/*"]).keep(name, ANSWER)


def test_they_stay_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment_index, "MOST", 8)
    found = EnvironmentIndex(str(tmp_path), ())
    for number in range(30):
        found.keep(f"{number:064}", ANSWER)
        assert len(list((tmp_path / "answers").iterdir())) <= 8
        assert found.find(f"{number:064}") == ANSWER
