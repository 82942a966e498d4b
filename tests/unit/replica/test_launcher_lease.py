"""A launcher that the server doesn't answer ends, and starts nothing any more."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest
from starlette.responses import PlainTextResponse

from footplate.protocol.launcher import LauncherConfig
from footplate.protocol.ticket import SupervisorTicket
from footplate.replica.launcher import bootstrap
from footplate.replica.launcher.launch import Launcher
from tests.support.http_server import serve

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


@pytest.mark.parametrize("status", [400, 404, 429])
def test_a_refusal_is_no_answer_that_renews_the_lease(tmp_path: Path, status: int) -> None:
    """It may be another server's, or a proxy's: ours doesn't know then that the launcher called."""

    async def run(url: str) -> None:
        launcher = Launcher(str(tmp_path), make_config(tmp_path, url), "incarnation")
        await asyncio.wait_for(launcher.run(), LIMIT_S)
        assert "longer than lease_s" in launcher._must_end

    with serve(PlainTextResponse("not here", status)) as url:
        asyncio.run(run(url))


def test_what_is_fetched_too_late_is_not_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    comes = threading.Event()

    def fetch(*_: object) -> str:
        comes.wait(LIMIT_S)
        return str(tmp_path / "archive.pyz")

    async def run() -> None:
        launcher = Launcher(str(tmp_path), make_config(tmp_path), "incarnation")
        starting = asyncio.ensure_future(launcher._start(0, SupervisorTicket(), stop=False))
        await asyncio.sleep(0)
        launcher._answered_s -= 2
        comes.set()
        await asyncio.wait_for(starting, LIMIT_S)
        assert launcher._state() == "GONE"
        assert not (tmp_path / "home~0").exists()

    monkeypatch.setattr(bootstrap, "fetch", fetch)
    asyncio.run(run())
