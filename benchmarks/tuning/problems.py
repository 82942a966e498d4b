"""What a problem is: a space, a loss, and what is known of its best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from footplate.domain.studies.space import Point, SearchSpace


class Loss(Protocol):
    def __call__(self, point: Point) -> float: ...


@dataclass(frozen=True)
class Problem:
    """``best``: the least loss there is; None: unknown, the least that any run has seen counts.

    ``truth``: the loss without its noise; None: it has none.
    """

    suite: str
    name: str
    space: SearchSpace
    loss: Loss
    best: float | None = None
    truth: Loss | None = None
