"""The report of an engine on itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class EngineReport:
    """A report for operators, in plain sentences: what the engine has, and what is wrong with it.

    Each problem comes with its solution.
    """

    reachable: bool
    facts: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
