"""The report of an engine on itself."""

from __future__ import annotations

from typing import Protocol


class EngineReport(Protocol):
    """A report for operators in plain sentences: what the engine has, and what is wrong with it.

    Each problem says the way out.
    """

    @property
    def reachable(self) -> bool: ...

    @property
    def facts(self) -> tuple[str, ...]: ...

    @property
    def problems(self) -> tuple[str, ...]: ...
