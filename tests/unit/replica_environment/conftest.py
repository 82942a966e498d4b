"""A bench whose only index is a folder of handmade wheels: nothing is fetched from anywhere."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from uv import find_uv_bin

from tests.support.environments import Bench, TaskServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="package")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the supervisor's archive is built once for all tests."""
    return tmp_path_factory.mktemp("archives")


@pytest.fixture
def bench(tmp_path: Path, archives: Path) -> Iterator[Bench]:
    server = TaskServer(tmp_path)
    (tmp_path / "wheels").mkdir()
    variables = {
        "UV_FIND_LINKS": str(tmp_path / "wheels"),
        "UV_NO_INDEX": "1",
        "UV_OFFLINE": "1",
        "UV_CACHE_DIR": str(tmp_path / "uv-cache"),
    }
    base = f"{sys.base_prefix}/bin/python3"
    yield Bench(
        tmp_path,
        server,
        find_uv_bin(),
        tmp_path / "cache",
        variables,
        [base],
        archives=archives,
    )
    server.close()


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    """The folder that stands for an index."""
    return tmp_path / "wheels"
