"""Slows guesses of the token down, and notes in the audit log who makes them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime

from starlette.datastructures import Headers
from starlette.types import Scope

from footplate.api.caller_shares import Shares, find_caller
from footplate.api.client_names import name_client
from footplate.api.worker_threads import in_thread
from footplate.domain.errors import ResourceExhausted
from footplate.ports.audit import AuditEntry, AuditLog

_INTERVAL_S = 60.0
_MOST_ADDRESSES = 100
"""Noted in each interval; of further ones only how many tokens they sent."""
_OTHERS = "other addresses"
_REFUSAL_S = 0.3
"""What a guess at the sign-in page costs: of each caller one after the other is looked at."""
_MOST_CALLERS = 64
_MOST_WAITING = 20
"""Of one caller; others are refused unseen."""


class WrongTokens:
    """Records wrong tokens: each address's first at once, and a count of others a minute later."""

    def __init__(
        self,
        log: AuditLog,
        interval_s: float = _INTERVAL_S,
        refusal_s: float = _REFUSAL_S,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._log = log
        self._interval_s = interval_s
        self._refusal_s = refusal_s
        self._now = now
        self._counts: dict[str, int] = {}
        """Since the last entry of each address."""
        self._writing: set[asyncio.Task[None]] = set()
        self._shares = Shares(_MOST_CALLERS)

    async def guard(self, scope: Scope, check: Callable[[], str | None]) -> str | None:
        """Returns the result of ``check``, where None means that the token is wrong.

        Raises ResourceExhausted if too many calls of this caller already wait for their checks.
        """
        caller = find_caller(scope)
        if self._shares.count(caller) >= _MOST_WAITING:
            raise ResourceExhausted(
                "the server is still checking the tokens of many requests from this address; try "
                "again later"
            )
        async with self._shares.taken(caller, 1):
            found = check()
            if found is None:
                await asyncio.sleep(self._refusal_s)
        if found is None:
            await self.note(scope)
        return found

    async def note(self, scope: Scope) -> None:
        client = scope.get("client")
        address = str(client[0]) if client else ""
        if address not in self._counts and len(self._counts) >= _MOST_ADDRESSES:
            address = _OTHERS
        if address in self._counts:
            self._counts[address] += 1
            return
        self._counts[address] = 0
        name = name_client(Headers(scope=scope))
        loop = asyncio.get_running_loop()
        loop.call_later(self._interval_s, self._end_interval, address, name)
        await in_thread(self._log.add, self._entry(address, name, 1))

    def _end_interval(self, address: str, name: str) -> None:
        if count := self._counts.pop(address):
            entry = self._entry(address, name, count)
            task = asyncio.ensure_future(in_thread(self._log.add, entry))
            self._writing.add(task)  # or nothing would hold it
            task.add_done_callback(self._writing.discard)

    def _entry(self, address: str, name: str, count: int) -> AuditEntry:
        tokens = "1 wrong token" if count == 1 else f"{count} wrong tokens"
        return AuditEntry(self._now(), "refuse", tokens, "anyone", "", name, address)
