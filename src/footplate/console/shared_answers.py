"""The answers that several tabs share when they read the same again after a change."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")
LONGEST_S = 1.0
"""An answer is shared for so long, though nothing has changed."""
MOST = 200


@dataclass(frozen=True)
class _Shared:
    changes: object
    begun: float
    answer: asyncio.Future[Any]
    """Any: each key has a type of its own."""


class SharedAnswers:
    """Answers that readers share in one event loop; none is older than the change that its
    reader knows of.
    """

    def __init__(self) -> None:
        self._found: dict[Hashable, _Shared] = {}

    async def get(self, key: Hashable, changes: object, read: Callable[[], Awaitable[T]]) -> T:
        """Returns the answer of ``read``, shared by calls with the same ``key`` and ``changes``.

        ``key`` stands for the question and the reader; ``changes`` differs after each change.
        Raises the error of ``read``, which isn't stored.
        """
        now = asyncio.get_running_loop().time()
        known = self._found.get(key)
        if known is None or not _holds(known, changes, now):
            self._forget(changes, now)
            known = _Shared(changes, now, asyncio.ensure_future(read()))
            known.answer.add_done_callback(_look_at)
            self._found[key] = known
        answer: T = await asyncio.shield(known.answer)
        return answer

    def _forget(self, changes: object, now: float) -> None:
        kept = {key: each for key, each in self._found.items() if _holds(each, changes, now)}
        self._found = kept if len(kept) < MOST else {}


def _holds(known: _Shared, changes: object, now: float) -> bool:
    failed = known.answer.done() and (
        known.answer.cancelled() or known.answer.exception() is not None
    )
    return known.changes == changes and now - known.begun <= LONGEST_S and not failed


def _look_at(answer: asyncio.Future[Any]) -> None:
    """Retrieves an error that nobody may have waited for; asyncio would log it otherwise."""
    if not answer.cancelled():
        answer.exception()
