"""A launcher that starts its replica looks at it all the time."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from footplate.protocol.launcher import LauncherConfig
from footplate.protocol.ticket import SupervisorTicket
from footplate.replica.launcher import bootstrap
from footplate.replica.launcher.launch import Launcher
from footplate.replica.launcher.replica_process import ReplicaProcess
from tests.support.local_backend import wait_until

LIMIT_S = 60
SLEEPER = """\
import os, sys, time
open(os.path.join(sys.argv[2], "pid"), "w").close()
time.sleep(600)
"""


def goes_on(launcher: Launcher) -> bool:
    """Whether nothing of its start is left to do."""
    launcher._go_on_starting()
    return launcher._starting is None


def test_a_supervisor_whose_files_were_removed_is_stopped_all_the_same(tmp_path: Path) -> None:
    """As by what clears old files below /tmp."""
    archive = tmp_path / "archive.py"
    archive.write_text(SLEEPER)
    replica = ReplicaProcess(str(tmp_path), str(archive), 0)
    replica.start(SupervisorTicket())
    try:
        wait_until(lambda: replica.lives)
        (tmp_path / "home~0" / "pid").unlink()
        replica.stop()
        wait_until(lambda: replica.ended)
    finally:
        replica.kill()


def test_a_replica_that_has_yet_to_start_is_not_taken_for_one_that_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tmp_path / "archive.pyz"
    archive.write_text("")
    comes = threading.Event()

    def fetch(*_: object) -> str:
        comes.wait(LIMIT_S)
        return str(archive)

    monkeypatch.setattr(bootstrap, "fetch", fetch)
    config = LauncherConfig(
        url="http://127.0.0.1:1",
        authority="",
        token="token",
        lease_s=600,
        scratch=str(tmp_path),
        supervisor="digest",
        job="7",
        node="n1",
    )

    launcher = Launcher(str(tmp_path), config, "incarnation")
    launcher._start(0, SupervisorTicket(), stop=False)
    launcher._look()
    launcher._go_on_starting()
    assert launcher._state() == "IDLE"
    assert not launcher._may_report(), "the server would take it for one that has lost its replica"
    comes.set()
    wait_until(lambda: goes_on(launcher))
    assert launcher._state() == "STARTING"
    assert launcher._replica is not None
    launcher._replica.kill()
    wait_until(lambda: launcher._replica is None or launcher._replica.ended)
