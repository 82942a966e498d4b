"""A bench for the catalogue's own runtimes, in a cache that outlives the tests.

``FOOTPLATE_TEST_CACHE`` names it; else it lies in the checkout, under ``.cache``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from uv import find_uv_bin

from footplate import catalogue
from footplate.domain.runtimes import Runtimes
from tests.support.environments import Bench, TaskServer

_CHECKOUT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def runtimes() -> Runtimes:
    return catalogue.load()


@contextmanager
def open_bench(folder: Path, runtimes: Runtimes) -> Iterator[Bench]:
    server = TaskServer(folder)
    server.locks.update(runtimes.locks)
    given = os.environ.get("FOOTPLATE_TEST_CACHE")
    cache = Path(given) if given else _CHECKOUT / ".cache" / "footplate"
    try:
        yield Bench(folder, server, find_uv_bin(), cache)
    finally:
        server.close()


@pytest.fixture
def bench(tmp_path: Path, runtimes: Runtimes) -> Iterator[Bench]:
    with open_bench(tmp_path, runtimes) as bench:
        yield bench
