"""A launcher that starts its replica looks at it all the time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from footplate.replica.launcher.launch import Launcher

if TYPE_CHECKING:
    from pathlib import Path

LIMIT_S = 60


class SlowLink:
    """Its server answers when it is told to."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.answers = asyncio.Event()

    async def own_address(self) -> str:
        self.asked.set()
        await self.answers.wait()
        return "127.0.0.1"


def test_a_replica_that_has_yet_to_start_is_not_taken_for_one_that_has_ended(
    tmp_path: Path,
) -> None:
    (tmp_path / "archives").mkdir()
    (tmp_path / "archives" / "digest.pyz").write_text("")
    config: dict[str, Any] = {
        "url": "http://127.0.0.1:1",
        "authority": "",
        "token": "token",
        "lease_s": 600,
        "scratch": str(tmp_path),
        "supervisor": "digest",
        "node": "n1",
    }

    async def run() -> None:
        launcher, link = Launcher(str(tmp_path), config), SlowLink()
        launcher._link = link  # type: ignore[assignment]  # a fake
        starting = asyncio.ensure_future(launcher._start(0, {}, stop=False))
        await asyncio.wait_for(link.asked.wait(), LIMIT_S)
        launcher._look()
        assert launcher._state() == "IDLE"
        link.answers.set()
        await asyncio.wait_for(starting, LIMIT_S)
        assert launcher._state() == "STARTING"
        assert launcher._replica is not None
        launcher._replica.kill()
        while not launcher._replica.ended:
            await asyncio.sleep(0.01)

    asyncio.run(run())
