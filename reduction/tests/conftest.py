"""Reducers to test with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reduction.tests.rig import ReducerProcesses

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def reducers() -> Iterator[ReducerProcesses]:
    with ReducerProcesses() as running:
        yield running
