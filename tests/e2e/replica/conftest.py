from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from footplate.replica.isolation import mode_selection
from footplate.replica.supervisor_archive import build_archive
from tests.support.supervisor_process import Supervised, command_task

STRICT = os.environ.get("CI") == "true" and sys.platform == "linux" and os.geteuid() == 0


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_archive(tmp_path_factory.mktemp("archive"))


@pytest.fixture
def make_replica(tmp_path: Path, archive: Path) -> Iterator[Callable[..., Supervised]]:
    """Make replicas whose every process is gone after the test."""
    made: list[Supervised] = []

    def make(task: Mapping[str, Any], **options: Any) -> Supervised:
        options.setdefault("archive", archive)
        replica = Supervised(tmp_path / f"replica-{len(made)}", task, **options)
        made.append(replica)
        return replica

    yield make
    for replica in made:
        replica.close()


@pytest.fixture(scope="session", params=mode_selection.CONTAINMENT_MODES)
def containment_mode(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, archive: Path
) -> str:
    """Each containment mode that works here; under CI as root all of them must."""
    name: str = request.param
    task = command_task(["true"])
    replica = Supervised(
        tmp_path_factory.mktemp("containment_mode") / "r", task, archive=archive, isolation=name
    )
    try:
        end = replica.supervise()
    finally:
        replica.close()
    if end["kind"] == "UNPREPARED" and not STRICT:
        pytest.skip(end["cause"])
    assert (end["kind"], end["code"]) == ("EXITED", 0), end
    return name
