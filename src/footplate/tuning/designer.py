"""The interface of all search methods."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from footplate.domain.studies.space import Point
from footplate.domain.studies.study import Study


class Reason(Enum):
    GRID = "grid"
    RANDOM = "random"
    INITIAL = "initial design"
    """Too little is known for a model."""
    EXPLORE = "explore"
    """The model knows little of this place, and it may be good."""
    EXPLOIT = "exploit"
    """The model expects it to be about as good as the best, or better."""


@dataclass(frozen=True)
class Prediction:
    """The model's prediction at a point, in the metric's own unit."""

    metric: str
    value: float
    low: float
    high: float
    """Two trials of three should end between ``low`` and ``high``."""


@dataclass(frozen=True)
class Explanation:
    reason: Reason
    sentence: str
    predictions: tuple[Prediction, ...] = ()
    distance: float | None = None
    """To the best trial's point, along the axes of the parameters, 0 to 1: the mean over all."""


@dataclass(frozen=True)
class Suggestion:
    point: Point
    why: Explanation


@dataclass(frozen=True)
class Batch:
    """The suggestions of one call; ``exhausted`` says why they are fewer than asked for."""

    suggestions: tuple[Suggestion, ...]
    exhausted: str = ""


class Designer(Protocol):
    """A search method.

    The same finished trials, pending trials and seed give the same points, on the same machine and
    with the same versions of NumPy and SciPy. ``seed`` is the study's: the same for all calls, and
    not negative.
    """

    def suggest(self, study: Study, count: int, seed: int) -> Batch: ...
