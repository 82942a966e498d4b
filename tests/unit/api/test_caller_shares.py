"""What one caller can't take from the others."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from footplate.api.caller_shares import (
    MOST_OF_PROGRAM,
    MOST_OF_PROGRAMS,
    ProgramShares,
    Shares,
)
from footplate.api.wrong_tokens import WrongTokens
from footplate.domain.errors import ResourceExhausted
from footplate.ports.audit import AuditEntry
from footplate.wire.scope_keys import PROGRAM
from tests.support.deadlines import EVENT_S

PERSON = {"path": "/v1/projects/demo/jobs", "client": ("127.0.0.1", 1)}
KEYED = {"path": "/programs/KEY/storage/v1/b", "client": ("127.0.0.1", 1)}
CALLING = {**PERSON, PROGRAM: "projects/demo/jobs/a"}


class Requests:
    """An app whose answers begin when they are let, behind the shares of programs."""

    def __init__(self) -> None:
        self.working = 0
        self.answering = asyncio.Event()
        self.ending = asyncio.Event()
        self._app = ProgramShares(self._answer, Shares(MOST_OF_PROGRAMS))

    async def _answer(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        self.working += 1
        await self.answering.wait()
        self.working -= 1
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await self.ending.wait()

    def call(self, scope: dict[str, Any]) -> asyncio.Task[None]:
        async def receive() -> Message:
            return {"type": "http.disconnect"}

        async def send(_message: Message) -> None:
            return

        return asyncio.ensure_future(self._app({"type": "http", **scope}, receive, send))


def run(work: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(work(), EVENT_S))


async def settle() -> None:
    """All tasks go on as far as they can."""
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.mark.parametrize("scope", [KEYED, CALLING])
def test_a_program_leaves_room_for_others(scope: dict[str, Any]) -> None:
    async def work() -> None:
        requests = Requests()
        calls = [requests.call(scope) for _ in range(3 * MOST_OF_PROGRAM)]
        await settle()
        assert requests.working == MOST_OF_PROGRAM
        calls += [requests.call(PERSON) for _ in range(MOST_OF_PROGRAM)]
        await settle()
        assert requests.working == 2 * MOST_OF_PROGRAM
        requests.answering.set()  # streams that have begun keep nobody waiting
        await settle()
        assert requests.working == 0
        requests.ending.set()
        await asyncio.gather(*calls)

    run(work)


def test_all_programs_together_leave_room_for_people() -> None:
    async def work() -> None:
        requests = Requests()
        paths = [f"/programs/{key}/storage/v1/b" for key in range(MOST_OF_PROGRAMS + 1)]
        calls = [requests.call({**KEYED, "path": path}) for path in paths]
        await settle()
        assert requests.working == MOST_OF_PROGRAMS
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        next_calls = [requests.call(KEYED) for _ in range(MOST_OF_PROGRAM)]
        await settle()
        assert requests.working == MOST_OF_PROGRAMS + MOST_OF_PROGRAM  # those cancelled never left
        for call in next_calls:
            call.cancel()

    run(work)


class Log:
    def __init__(self) -> None:
        self.entries: list[AuditEntry] = []

    def add(self, entry: AuditEntry) -> None:
        self.entries.append(entry)


def test_guesses_of_a_caller_are_looked_at_one_after_the_other() -> None:
    async def work() -> None:
        log, looked = Log(), 0
        tokens = WrongTokens(log, refusal_s=3600)  # type: ignore[arg-type]  # as far as it is used

        def check() -> None:
            nonlocal looked
            looked += 1

        guesses = [asyncio.ensure_future(tokens.guard(PERSON, check)) for _ in range(150)]
        await settle()
        assert looked == 1
        refused = [g for g in guesses if g.done() and isinstance(g.exception(), ResourceExhausted)]
        assert len(refused) > 100
        other = {**PERSON, "client": ("192.0.2.1", 1)}
        assert await tokens.guard(other, lambda: "cookie") == "cookie"
        for guess in guesses:
            guess.cancel()
        await asyncio.gather(*guesses, return_exceptions=True)

    run(work)


def test_wrong_tokens_are_noted_with_their_number() -> None:
    async def work() -> None:
        log, time = Log(), datetime(2030, 1, 1, tzinfo=UTC)
        tokens = WrongTokens(log, 0.05, 0, lambda: time)  # type: ignore[arg-type]
        scope = {"type": "http", "headers": [], **PERSON}
        for _ in range(5):
            assert await tokens.guard(scope, lambda: None) is None
        while len(log.entries) < 2:
            await asyncio.sleep(0.01)
        assert [entry.resource for entry in log.entries] == ["1 wrong token", "4 wrong tokens"]
        assert {(e.action, e.by, e.address) for e in log.entries} == {
            ("refuse", "anyone", "127.0.0.1")
        }

    run(work)
