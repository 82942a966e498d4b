"""Held questions of replicas whether to start, without a server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from footplate.api.app import create_app
from footplate.api.replica_v1 import HOLD_S, replica_routes
from footplate.api.security import Access
from footplate.control.node_places import NodePlaces
from footplate.control.tokens import Bearer, Tokens
from footplate.domain.names import AttemptId, JobUid
from footplate.protocol.task import Start

TOKENS = Tokens(b"k" * 32)
BEARER = Bearer(AttemptId("u-1"), "worker-replica-0", 0)
LONG, READY = int(HOLD_S), Start(environment=())


class FakeTasks:
    """Answers with each start in turn; the gang becomes ready with the first, if ``wakes``."""

    def __init__(self, *starts: Start, wakes: bool = False) -> None:
        self._starts = list(starts)
        self._wakes = wakes
        self._ready: Callable[[], None] | None = None
        self.watched = 0

    def start(self, bearer: Bearer, _node: NodePlaces) -> Start:
        assert bearer == BEARER
        if self._wakes:
            assert self._ready is not None
            self._ready()
        return self._starts.pop(0)

    def watch(self, uid: JobUid, ready: Callable[[], None]) -> Callable[[], None]:
        assert uid == "u"
        self._ready = ready
        self.watched += 1

        def end() -> None:
            self.watched -= 1

        return end


def ask(tasks: Any, query: str) -> Start:
    unused: Any = None
    routes = replica_routes(
        tasks, unused, TOKENS, unused, unused, unused, lambda _: "", tasks.watch
    )

    async def run() -> httpx.Response:
        transport = httpx.ASGITransport(create_app(routes, Access()))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            headers = {"authorization": f"Bearer {TOKENS.issue(BEARER)}"}
            return await client.get(f"/replica/v1/start{query}", headers=headers)

    answer = Start.decode(asyncio.run(run()).json())
    assert tasks.watched == 0
    return answer


@pytest.mark.parametrize("query", ["", "?hold=0", "?hold=x", "?hold=-1"])
def test_who_does_not_want_to_wait_hears_at_once_who_is_awaited(query: str) -> None:
    assert ask(FakeTasks(Start(awaited=("m",))), query).awaited == ("m",)


def test_a_gang_that_is_ready_starts_at_once() -> None:
    assert ask(FakeTasks(READY), f"?hold={LONG}") == READY


def test_a_replica_that_waits_starts_as_soon_as_its_gang_is_ready() -> None:
    tasks = FakeTasks(Start(awaited=("m",)), READY, wakes=True)
    assert ask(tasks, f"?hold={LONG}") == READY


def test_a_replica_hears_after_a_while_who_is_still_awaited() -> None:
    assert ask(FakeTasks(Start(awaited=("m",))), "?hold=1").awaited == ("m",)
