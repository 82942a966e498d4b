"""Tries again what failed: later each time."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

LONGEST_RETRY_S = 300.0
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Failure:
    """Says why something could not be done, and when it is tried again."""

    reason: str
    rest_s: float
    until_s: float


class Retries(Generic[Key]):
    """The failures of a kind, by what failed."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._failures: dict[Key, Failure] = {}

    def fail(
        self, key: Key, reason: str, rest_s: float, longest_s: float = LONGEST_RETRY_S
    ) -> bool:
        """Notes a failure, which is tried again after ``rest_s`` at first, and after twice as long
        each time, up to ``longest_s``; returns whether it is the first.
        """
        known = self._failures.get(key)
        if known is not None:
            rest_s = min(known.rest_s * 2, longest_s)
        self._failures[key] = Failure(reason, rest_s, self._monotonic() + rest_s)
        return known is None

    def succeed(self, key: Key) -> None:
        self._failures.pop(key, None)

    def rests(self, key: Key) -> bool:
        """Returns whether it is too early to try again."""
        failure = self._failures.get(key)
        return failure is not None and self._monotonic() < failure.until_s

    def reason(self, key: Key) -> str:
        """Returns why it failed last; '' if it didn't."""
        failure = self._failures.get(key)
        return "" if failure is None else failure.reason

    @property
    def reasons(self) -> tuple[str, ...]:
        return tuple(failure.reason for failure in self._failures.values())

    def forget_others(self, keep: Callable[[Key], bool]) -> None:
        self._failures = {key: each for key, each in self._failures.items() if keep(key)}
