"""Held calls of launchers, without a server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from footplate.api.app import create_app
from footplate.api.launcher_v1 import launcher_routes
from footplate.api.security import Access
from footplate.domain.launchers import LauncherReport
from footplate.protocol import launcher
from footplate.protocol.launcher import LauncherAnswer

LONG_S, SHORT_S = 30.0, 0.01


class FakeLaunchers:
    """Has an answer for each exchange, and wakes a call after the first ``wakes`` of them."""

    def __init__(self, *answers: LauncherAnswer, wakes: int = 0, look_s: float = LONG_S) -> None:
        self._answers = list(answers)
        self._wakes = wakes
        self._look_s = look_s
        self._wake: Callable[[], None] | None = None
        self.exchanges = 0

    def exchange(self, token: str, report: LauncherReport) -> LauncherAnswer:
        assert (token, report.incarnation) == ("secret", "a")
        self.exchanges += 1
        if self.exchanges <= self._wakes:
            assert self._wake is not None
            self._wake()
        return self._answers.pop(0)

    def hold(self, token: str, wake: Callable[[], None]) -> Callable[[], None]:
        self._wake = wake
        return lambda: None

    def look_s(self, token: str) -> float:
        return self._look_s

    def archive(self, token: str, digest: str) -> Path:
        raise NotImplementedError


def call(launchers: FakeLaunchers, hold_s: float) -> LauncherAnswer:
    report = launcher.LauncherReport(0, "LIVE", "a", hold_s=hold_s).encode()

    async def run() -> httpx.Response:
        app = create_app(launcher_routes(launchers), Access())
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            headers = {"authorization": "Bearer secret"}
            return await client.post("/replica/v1/launcher", json=report, headers=headers)

    return LauncherAnswer.decode(asyncio.run(run()).json())


@pytest.mark.parametrize("hold_s", [0.0, SHORT_S])
def test_a_call_that_nothing_wakes_is_worked_on_once(hold_s: float) -> None:
    launchers = FakeLaunchers(LauncherAnswer())
    assert not call(launchers, hold_s).is_news
    assert launchers.exchanges == 1


def test_a_call_that_is_woken_has_the_news_at_once() -> None:
    launchers = FakeLaunchers(LauncherAnswer(), LauncherAnswer(stop=True), wakes=1)
    assert call(launchers, LONG_S).stop
    assert launchers.exchanges == 2


def test_where_others_write_a_call_finds_their_news_too() -> None:
    launchers = FakeLaunchers(LauncherAnswer(), LauncherAnswer(leave=True), look_s=SHORT_S)
    assert call(launchers, LONG_S).leave
    assert launchers.exchanges == 2
