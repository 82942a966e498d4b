"""Points that a study has tried or is trying."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.studies.space import key
from footplate.domain.studies.study import Noise

if TYPE_CHECKING:
    from collections.abc import Iterable

    from footplate.domain.studies.space import Point
    from footplate.domain.studies.study import Study


class SeenPoints:
    """Grows by what is suggested in the same batch."""

    def __init__(self, points: Iterable[Point], size: int | None) -> None:
        self._keys = {key(point) for point in points}
        self._size = size

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, point: Point) -> bool:
        return key(point) in self._keys

    def add(self, point: Point) -> None:
        self._keys.add(key(point))

    @property
    def everything(self) -> bool:
        """Whether no point is left."""
        return self._size is not None and len(self._keys) >= self._size

    @property
    def left(self) -> int | None:
        """How many points are left; None: no end of them."""
        return None if self._size is None else max(0, self._size - len(self._keys))


def tried(study: Study) -> SeenPoints:
    """Of this study, and of earlier ones of the same space: those aren't run again either.

    Points that a finite space doesn't have don't count: whoever completes trials of their own
    may have tried anything.
    """
    space = study.config.space
    alike = [one for one in study.earlier if one.config.space == space]
    points = (trial.point for one in (*alike, study) for trial in one.trials)
    if space.size is not None:
        points = (point for point in points if space.has(point))
    return SeenPoints(points, space.size)


def repeats(study: Study) -> bool:
    """Whether a point may be tried again."""
    return study.config.noise is Noise.HIGH


def all_tried(study: Study) -> str:
    """Why nothing more is suggested."""
    size = study.config.space.size
    points = "the only point" if size == 1 else f"all {size} points"
    return f"{points} of the search space {'has' if size == 1 else 'have'} been tried"
