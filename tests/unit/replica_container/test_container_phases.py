"""What a container's events say as it starts."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from footplate.replica.container import container_phases
from footplate.replica.container.containment import EngineContainment
from footplate.replica.isolation.resource_limits import Limits
from footplate.replica.journal import Journal
from tests.support.replica_context import make_context


@pytest.mark.parametrize(
    ("place", "disk_bytes", "told"),
    [("/var/lib/files", 1 << 30, 0), ("", 1 << 30, 1), ("", 0, 0)],
)
def test_a_disk_that_is_not_measured_is_told_of(
    tmp_path: Path, place: str, disk_bytes: int, told: int
) -> None:
    events: list[str] = []
    context = make_context(tmp_path)
    journal = SimpleNamespace(event=lambda _, message: events.append(message))
    context.journal = cast("Journal", journal)
    context.wanted = Limits("small", 1 << 30, 1, disk_bytes)
    context.containment = EngineContainment("", "mark")
    context.containment.written = place
    container_phases._tell_disk(context)
    assert [each.startswith("disk: the supervisor measures only") for each in events] == [
        True
    ] * told


def test_the_files_of_a_program_that_ended_at_once_are_known() -> None:
    """Or what it reported in its working directory would never be read."""
    containment = EngineContainment("", "mark")
    started = {"pid": 0, "start": 0, "groups": [], "workdir": "/upper/app", "written": "/upper"}
    containment._take([json.dumps({"started": started})])
    assert (containment.workdir, containment.written) == ("/upper/app", "/upper")
