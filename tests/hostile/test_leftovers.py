"""Nothing is left of a program that tries to stay, or the ``ISOLATION`` event says that it may."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from footplate.replica.isolation import levels, mode_selection
from tests.hostile.conftest import USERS, needs_root, skip_if_unprepared
from tests.hostile.leftovers import LEAVE, Trace
from tests.support.supervisor_process import Supervised, command_task

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="is about Linux")


@pytest.fixture
def trace() -> Iterator[Trace]:
    trace = Trace()
    yield trace
    trace.find_processes()
    trace.find_files()
    trace.find_segments()


def check(
    trace: Trace, directory: Path, python: str = sys.executable, **options: Any
) -> Supervised:
    """Run the program to its end, and look for what is left."""
    task = command_task([python, "-c", LEAVE, trace.word, str(trace.key)])
    replica = Supervised(directory, task, python=python, **options)
    try:
        end = replica.supervise()
    finally:
        replica.close()
    skip_if_unprepared(end, options)
    assert (end["code"], replica.api.lines()) == (0, ["left"]), replica.api.lines("stderr")
    said = " ".join(replica.api.events("ISOLATION"))
    assert not trace.find_processes() or "processes that left the group may survive" in said
    shared = [*trace.find_files(), *trace.find_segments()]
    assert not shared or levels.HOST_VIEW.missing in said
    assert trace.find_entries() == []
    return replica


@needs_root
@pytest.mark.parametrize("containment_mode", mode_selection.CONTAINMENT_MODES)
def test_nothing_is_left_of_a_program(
    tmp_path: Path, archive: Path, trace: Trace, containment_mode: str
) -> None:
    options: dict[str, Any] = {"isolation": containment_mode, "program_users": USERS}
    check(trace, tmp_path / "service", archive=archive, **options)


@pytest.mark.parametrize("containment_mode", mode_selection.CONTAINMENT_MODES)
def test_nothing_is_left_of_a_program_of_an_ordinary_users_service(
    ordinary: dict[str, Any], trace: Trace, containment_mode: str
) -> None:
    check(trace, **ordinary, isolation=containment_mode)


def test_the_same_program_leaves_all_where_nothing_holds_it(trace: Trace, tmp_path: Path) -> None:
    """Else the other tests would prove nothing."""
    command = [sys.executable, "-c", LEAVE, trace.word, str(trace.key)]
    environment = {"TMPDIR": str(tmp_path), "PATH": ""}  # no at
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True, timeout=60)
    assert len(trace.find_processes()) >= 6
    assert trace.find_files()
    assert trace.find_segments()
