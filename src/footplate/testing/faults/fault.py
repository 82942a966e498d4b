"""A fault that is planned: when it happens, to whom, and what becomes of it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from footplate.replica.isolation.procfs import Process

DEFAULT_TIMEOUT_S = 300.0
"""The first job of a runtime installs it before the program starts."""


@dataclass(frozen=True)
class Trigger:
    """The time of a fault; as early as possible if neither field is set."""

    after_lines: int | None = None
    after_s: float | None = None

    def __post_init__(self) -> None:
        if self.after_lines is not None and self.after_s is not None:
            raise ValueError("after_lines and after_s are both given; allowed: at most one of them")
        if self.after_lines is not None and self.after_lines < 1:
            raise ValueError(f"after_lines={self.after_lines} given; allowed: 1 or more")
        if self.after_s is not None and not self.after_s >= 0:
            raise ValueError(f"after_s={self.after_s} given; allowed: 0 or more")

    def __str__(self) -> str:
        if self.after_lines is not None:
            return f" after {self.after_lines} lines"
        return "" if self.after_s is None else f" after {self.after_s:g} s"


@dataclass(frozen=True)
class FaultAction:
    """The action of a fault. ``to_machine``: the supervisor too, even before the program."""

    words: str
    do: Callable[[Path], list[Process]]
    """The act on the replica with this home; returns whom it was done to, nobody: not yet."""
    to_machine: bool = False


@dataclass(eq=False)
class Fault:
    """A fault that ``FaultInjector`` planned. It occurs at most once per start of the replica."""

    replica: str
    trigger: Trigger
    action: FaultAction
    times: int
    job: str | None
    """The job's name or id; None: the next job that starts."""
    seen: frozenset[str] = frozenset()
    """The jobs that had started before, by their uids: none of them is the next one."""
    uid: str = ""
    """The uid of the job that it is for, once that is known."""
    fired: int = 0
    """How often it has happened."""
    trouble: str = ""
    """Why it can't happen any more, or not yet."""
    over: bool = False
    """It can't happen any more."""
    struck: set[object] = field(default_factory=set)
    """The lives of the replica in which it has happened."""
    changed: threading.Condition = field(default_factory=threading.Condition)

    def __str__(self) -> str:
        whose = f"job {self.job}" if self.job else "the next job"
        return f"{self.action.words} {self.replica} of {whose}{self.trigger}"

    @property
    def waits(self) -> bool:
        """Returns whether the fault may still occur."""
        return not self.over and self.fired < self.times

    def wait(self, timeout_s: float = DEFAULT_TIMEOUT_S) -> None:
        """Waits until the fault has occurred for the first time.

        Raises:
            AssertionError: the fault didn't occur within ``timeout_s``, or can't any more; the
                message says why.
        """
        with self.changed:
            self.changed.wait_for(lambda: self.fired or self.over, timeout_s)
        self.assert_fired()

    def assert_fired(self) -> None:
        """Raises AssertionError, with the reason, if the fault hasn't occurred so far."""
        if not self.fired:
            raise AssertionError(f"{self} didn't happen: {self.trouble or 'not yet'}")

    def happened(self, life: object) -> None:
        with self.changed:
            self.struck.add(life)
            self.fired += 1
            self.changed.notify_all()

    def give_up(self, trouble: str) -> None:
        with self.changed:
            self.trouble, self.over = trouble, True
            self.changed.notify_all()
