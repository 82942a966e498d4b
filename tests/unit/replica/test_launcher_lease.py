"""A launcher that the server doesn't answer ends, and starts nothing any more."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from starlette.responses import PlainTextResponse

from footplate.protocol.launcher import LauncherConfig
from footplate.protocol.ticket import SupervisorTicket
from footplate.replica.launcher import bootstrap
from footplate.replica.launcher.launch import Launcher
from footplate.wire.launcher_v1 import MAX_UP_S, decode_report
from tests.support.http_server import serve
from tests.support.local_backend import wait_until

LIMIT_S = 60


def make_config(scratch: Path, url: str = "http://127.0.0.1:1") -> LauncherConfig:
    return LauncherConfig(
        url=url,
        authority="",
        token="token",
        lease_s=1,
        scratch=str(scratch),
        supervisor="digest",
        job="7",
        node="n1",
    )


def goes_on(launcher: Launcher) -> bool:
    """Whether nothing of its start is left to do."""
    launcher._go_on_starting()
    return launcher._starting is None


@pytest.mark.parametrize("status", [400, 404, 429])
def test_a_refusal_is_no_answer_that_renews_the_lease(tmp_path: Path, status: int) -> None:
    """It may be another server's, or a proxy's: ours doesn't know then that the launcher called."""
    (tmp_path / "own").mkdir()
    with serve(PlainTextResponse("not here", status)) as url:
        launcher = Launcher(str(tmp_path / "own"), make_config(tmp_path, url), "incarnation")
        launcher.run()
        assert "longer than lease_s" in launcher._must_end


def test_what_is_fetched_too_late_is_not_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    comes = threading.Event()

    def fetch(*_: object) -> str:
        comes.wait(LIMIT_S)
        return str(tmp_path / "archive.pyz")

    monkeypatch.setattr(bootstrap, "fetch", fetch)
    launcher = Launcher(str(tmp_path), make_config(tmp_path), "incarnation")
    launcher._start(0, SupervisorTicket(), stop=False)
    launcher._reporter._answered_s -= 2
    comes.set()
    wait_until(lambda: goes_on(launcher))
    assert launcher._state() == "GONE"
    assert not (tmp_path / "home~0").exists()


def test_a_report_says_in_which_boot_of_its_node_the_launcher_runs(tmp_path: Path) -> None:
    launcher = Launcher(str(tmp_path), make_config(tmp_path), "incarnation")
    said, _ = decode_report(json.dumps(launcher._report().encode()).encode())
    booted_s = float(Path("/proc/uptime").read_text().split()[0])
    assert said.boot_id == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert abs(said.up_s - booted_s) < 5


def test_an_earlier_launcher_says_nothing_of_its_boot() -> None:
    said, _ = decode_report(b'{"restart": -1, "state": "IDLE"}')
    assert (said.boot_id, said.up_s) == ("", 0.0)
    far, _ = decode_report(b'{"restart": -1, "state": "IDLE", "up_s": 1%s}' % (b"0" * 400))
    assert far.up_s == MAX_UP_S
