"""A bench whose only index is a folder of handmade wheels: nothing is fetched from anywhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from uv import find_uv_bin

from tests.support.environments import Bench, TaskServer


@pytest.fixture(scope="package")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The supervisor's archive is built once there, and uv asks the base interpreter once."""
    return tmp_path_factory.mktemp("shared")


@pytest.fixture
def bench(tmp_path: Path, shared: Path) -> Iterator[Bench]:
    server = TaskServer(tmp_path)
    (tmp_path / "wheels").mkdir()
    variables = {
        "UV_FIND_LINKS": str(tmp_path / "wheels"),
        "UV_NO_INDEX": "1",
        "UV_OFFLINE": "1",
        "UV_CACHE_DIR": str(shared / "uv-cache"),
    }
    base = f"{sys.base_prefix}/bin/python3"
    yield Bench(
        tmp_path,
        server,
        find_uv_bin(),
        tmp_path / "cache",
        variables,
        [base],
        archives=shared,
    )
    server.close()


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    """The folder that stands for an index."""
    return tmp_path / "wheels"
