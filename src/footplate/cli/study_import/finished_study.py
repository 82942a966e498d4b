"""A study made elsewhere, as its file describes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from footplate.wire.json_text import JsonObject

Value: TypeAlias = str | float | int


@dataclass(frozen=True)
class Span:
    """Numbers from ``low`` to ``high``, both included; ``step`` None: all between them."""

    low: float
    high: float
    integral: bool = False
    log: bool = False
    step: float | None = None


@dataclass(frozen=True)
class Choices:
    """Numbers only, or texts only."""

    values: tuple[Value, ...]


Domain: TypeAlias = Span | Choices


@dataclass(frozen=True)
class Measured:
    """Finite values by the names of metrics."""

    values: Mapping[str, float]
    step: int = 0


@dataclass(frozen=True)
class FinishedTrial:
    """``final`` None: it has no result, for the ``reason``."""

    parameters: Mapping[str, Value]
    final: Measured | None
    reason: str = ""
    curve: tuple[Measured, ...] = ()


@dataclass(frozen=True)
class FinishedStudy:
    """``spec`` is the studySpec where the file has one; else ``domains`` say what it searched."""

    goals: Mapping[str, str]
    """MAXIMIZE or MINIMIZE, by the names of metrics."""
    trials: tuple[FinishedTrial, ...]
    domains: Mapping[str, Domain] = field(default_factory=dict)
    spec: JsonObject | None = None
    notes: tuple[str, ...] = ()
    """What was left out or assumed, one sentence each."""
