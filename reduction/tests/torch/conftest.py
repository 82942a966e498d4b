"""A Python with PyTorch, and ranks that run in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import uv
from footplate.replica.environment.cache import Cache
from footplate.replica.environment.progress_output import ProgressOutput
from footplate.runtime_cache import Environments
from footplate.server.isolation_probe import PromisedIsolation
from footplate.settings import load_settings
from footplate.testing.service import outside

from reduction.tests.torch.ranks import ROOT, Ranks

_RUNTIME = "pytorch-cpu.2-13"


@pytest.fixture(scope="session")
def torch_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That of the catalogue's runtime, built where it isn't there yet."""
    cache = ROOT / ".cache" / "footplate"
    options = {"data_dir": str(tmp_path_factory.mktemp("data")), "cache_dir": str(cache)}
    settings = load_settings(outside(os.environ), options)
    environments = Environments(
        settings, Path(uv.find_uv_bin()), promised=PromisedIsolation(settings)
    )
    quiet = ProgressOutput(lambda _: None)
    runtime, _ = environments.build(_RUNTIME, gpu=False, part="full", teller=quiet)
    locks = [piece.lock_sha256 for piece in runtime.cpu]
    built = [one for one in Cache(str(cache)).look() if one.record.lock_sha256 in locks]
    return Path(built[0].path) / "bin" / "python"


@pytest.fixture(scope="session")
def ranks(torch_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ranks]:
    with Ranks(torch_python, tmp_path_factory.mktemp("ranks")) as running:
        yield running
