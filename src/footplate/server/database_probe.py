"""Asks for health checks whether the database answers."""

from __future__ import annotations

import time
from threading import Lock
from typing import TYPE_CHECKING

from footplate.domain.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable

INTERVAL_S = 1.0
"""Between two questions: anybody may ask for the health, as often as he likes."""
SLOW_S = 2.0
"""A database that takes longer than this is away: a host may have vanished from the network."""


class DatabaseProbe:
    """Checks the database in one thread at a time; other threads get the last result meanwhile."""

    def __init__(
        self, ask: Callable[[], object], monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        """Creates the probe. ``ask`` raises Unavailable if the database doesn't answer."""
        self._ask = ask
        self._monotonic = monotonic
        self._asking = Lock()
        self._begun: float | None = None
        """When the question that waits for its answer was asked."""
        self._ended = float("-inf")
        self._failure = ""

    def check(self) -> None:
        """Raises Unavailable if the database doesn't answer."""
        if self._asking.acquire(blocking=False):
            try:
                if self._monotonic() - self._ended >= INTERVAL_S:
                    self._failure = self._find_failure()
            finally:
                self._asking.release()
        begun = self._begun
        if begun is not None and self._monotonic() - begun > SLOW_S:
            raise Unavailable(
                "the database doesn't answer; check that it runs, and that "
                "this machine can reach it"
            )
        if self._failure:
            raise Unavailable(self._failure)

    def _find_failure(self) -> str:
        self._begun = self._monotonic()
        try:
            self._ask()
        except Unavailable as error:
            return error.message
        else:
            return ""
        finally:
            self._begun, self._ended = None, self._monotonic()
