"""The C++ library, and reducers to test with."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from footplate_reduction.native.library import Library, load
from reduction.tests.rig import ReducerProcesses
from tests.support.requirements import require_packages


@pytest.fixture(scope="session", autouse=True)
def compiler() -> None:
    """Without one there is no library, and all tests here are skipped."""
    require_packages("the C++ library of footplate-reduction", "g++")


@pytest.fixture(scope="session")
def library() -> Library:
    return load()


@pytest.fixture
def reducers() -> Iterator[ReducerProcesses]:
    with ReducerProcesses() as running:
        yield running
