"""The command line with a server that has the catalogue, and without any."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result

from footplate.api.app import create_app
from footplate.api.footplate_v1.catalogue import catalogue_routes
from footplate.api.security import Access
from footplate.catalogue import load_catalogue
from tests.support.http_server import serve

OWN = """\
replace = true
[accelerators.NVIDIA_L4]
kind = "GPU"
memory_gb = 24
[accelerators.NVIDIA_TESLA_T4]
kind = "GPU"
memory_gb = 16
[machine_types.rack]
vcpus = 32
memory_gb = 128
accelerators.NVIDIA_L4 = [1, 2]
[machine_types.bench]
vcpus = 4
memory_gb = 7.5
[machine_types.old_bench]
family = "LEGACY"
like = "bench"
included = { accelerator = "NVIDIA_TESLA_T4", count = 1 }
[regions.home1]
zones.a = ["NVIDIA_L4"]
zones.b = ["NVIDIA_L4", "NVIDIA_TESLA_T4"]
[regions.office1]
zones.a = []
[scale_tiers.BASIC]
master = { machine_type = "bench" }
[scale_tiers.STANDARD_1]
master = { machine_type = "rack", accelerator = "NVIDIA_L4", accelerator_count = 2 }
worker = { machine_type = "bench", count = 3 }
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    file = tmp_path / "own.toml"
    file.write_text(OWN)
    return file


@pytest.fixture
def served(
    own: Path, invoke: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """``invoke`` talks to a server with the catalogue ``own``."""
    with serve(create_app(catalogue_routes(load_catalogue(own)), Access())) as url:
        monkeypatch.setenv("FOOTPLATE_URL", url)
        yield


@pytest.fixture
def alone(tmp_path: Path, invoke: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> Path:
    """``invoke`` finds no server; the data directory that it looks in."""
    data_dir = tmp_path / "data"
    data_dir.mkdir()
    monkeypatch.delenv("FOOTPLATE_URL")
    monkeypatch.delenv("FOOTPLATE_CATALOGUE", raising=False)
    monkeypatch.setenv("FOOTPLATE_DATA_DIR", str(data_dir))
    return data_dir
