"""The variable that limits a library's threads is as it was before once the library is loaded."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from footplate.control.suggestions import tuner_loader


@pytest.fixture(autouse=True)
def _nothing_is_loaded() -> Iterator[None]:
    tuner_loader._load.cache_clear()
    yield
    tuner_loader._load.cache_clear()


@pytest.mark.parametrize("before", [None, "3"])
def test_only_the_library_gets_a_single_thread(
    monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    variable = tuner_loader._THREADS
    if before is None:
        monkeypatch.delenv(variable, raising=False)
    else:
        monkeypatch.setenv(variable, before)
    seen: list[str | None] = []

    def load(name: str) -> SimpleNamespace:
        seen.append(os.environ.get(variable))
        return SimpleNamespace(Tuner=dict)

    monkeypatch.setattr(importlib, "import_module", load)
    loaded: list[object] = [tuner_loader.load(), tuner_loader.load()]
    assert loaded == [dict, dict]
    assert (seen, os.environ.get(variable)) == (["1"], before)
