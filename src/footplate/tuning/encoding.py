"""Encodes points as rows of numbers, and rows as features for distances.

A row has the position of each slot on its axis, NaN where the slot isn't active. Features are laid
out so that plain Euclidean distances between them mean something, and kernels over them are valid:

- numbers: their position;
- categories: one column each, so that different ones are at distance 1 (see :meth:`Encoding.around`
  where there are many);
- numbers that may be inactive: an arc of radius 1/2, the inactive in its centre. Active values are
  about as far from each other as on the line, and all equally far from the inactive. Source of the
  idea: Swersky et al., "Raiders of the Lost Architecture", 2014.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from footplate.domain.studies.parameters import Value
from footplate.domain.studies.space import Point, SearchSpace
from footplate.tuning.axes import Axis, axis

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from footplate.tuning.axes import Floats

    Indices = NDArray[np.int64]

_APART = np.sqrt(0.5)
"""The value of a category's column: the distance of two categories is 1."""
_MIDDLE = 0.5
_RADIUS = 0.5
_ANGLE = 1.0 / _RADIUS
"""Radians for the whole axis: steps along the arc are as long as on the line."""


_MANY = 64
"""Of more categories, each one that a known row has gets its own column; all others share one."""


class Encoding:
    """The encoding of one space; ``width`` is the number of slots, and so the length of a row."""

    def __init__(self, space: SearchSpace, known: Floats | None = None) -> None:
        self.space = space
        self.axes: list[Axis] = [axis(slot.parameter) for slot in space.slots]
        self.width = len(self.axes)
        self.kinds = {j: self._kinds_of(j, known) for j, a in enumerate(self.axes) if a.categories}
        """For each categorical slot: the column of each category, among those of the slot."""
        self.categorical = np.array([along.categories > 0 for along in self.axes])
        self.conditional = np.array([slot.parent is not None for slot in space.slots])
        self.stepped = np.array([along.steps > 0 for along in self.axes])
        self.owners = np.repeat(
            np.arange(self.width), [self._columns(j) for j in range(self.width)]
        )
        """The slot that each column of the features belongs to."""
        self._first = np.searchsorted(self.owners, np.arange(self.width))
        self._arcs = np.flatnonzero(self.conditional & ~self.categorical)
        self._plain = np.flatnonzero(~self.conditional & ~self.categorical)

    def around(self, known: Floats) -> Encoding:
        """Returns an encoding for distances from the ``known`` rows, in fewer columns.

        Categories that no known row has are as far from the known rows as from each other, so one
        column is enough for all of them.
        """
        many = any(len(columns) > _MANY for columns in self.kinds.values())
        return Encoding(self.space, known) if many else self

    def row(self, point: Point) -> Floats:
        row: Floats = self.rows([point])[0]
        return row

    def rows(self, points: Sequence[Point]) -> Floats:
        values = [self.space.active_values(point) for point in points]
        rows = np.full((len(points), self.width), np.nan)
        for j, along in enumerate(self.axes):
            active = [i for i, of in enumerate(values) if of[j] is not None]
            if active:
                rows[active, j] = along.positions([v for of in values if (v := of[j]) is not None])
        return rows

    def point(self, row: Floats) -> Point:
        """Returns the point of a row that :meth:`settle` has made part of the space.

        The values decide which slots are active: among a billion whole numbers, two neighbours have
        the same position in a row, but may activate different parameters.
        """
        point: dict[str, Value] = {}
        values: list[Value | None] = []
        for slot, along, position in zip(self.space.slots, self.axes, row, strict=True):
            active = slot.parent is None or values[slot.parent] in slot.values
            place = _MIDDLE if np.isnan(position) else float(position)
            values.append(along.value(place) if active else None)
            if active:
                point[slot.parameter.name] = along.value(place)
        return point

    def draw(self, units: Floats) -> Floats:
        """Converts uniform numbers from 0 to 1, one for each slot, to rows."""
        spread = [along.spread(units[:, j]) for j, along in enumerate(self.axes)]
        return self._deactivate(np.column_stack(spread))

    def settle(self, rows: Floats, rng: np.random.Generator) -> Floats:
        """Returns the nearest rows of the space; newly active slots get random positions."""
        settled = np.empty_like(rows)
        for j, along in enumerate(self.axes):
            missing = np.isnan(rows[:, j])
            column = np.where(missing, 0.0, rows[:, j])
            settled[:, j] = along.snap(column)
            if missing.any():
                settled[missing, j] = along.spread(rng.random(int(missing.sum())))
        return self._deactivate(settled)

    def features(self, rows: Floats) -> Floats:
        features = np.zeros((len(rows), len(self.owners)))
        features[:, self._first[self._plain]] = rows[:, self._plain]
        if len(self._arcs):
            angles = _ANGLE * rows[:, self._arcs]
            inactive, first = np.isnan(angles), self._first[self._arcs]
            features[:, first] = np.where(inactive, 0.0, _RADIUS * np.sin(angles))
            features[:, first + 1] = np.where(inactive, 0.0, _RADIUS * np.cos(angles))
        for j, columns in self.kinds.items():
            active = np.flatnonzero(~np.isnan(rows[:, j]))
            places = columns[rows[active, j].astype(np.int64)]
            features[active, self._first[j] + places] = _APART
        return features

    def slopes(self, row: Floats) -> Floats:
        """Returns how each feature changes with the position of its slot; 0 for categories."""
        slopes = np.zeros(len(self.owners))
        slopes[self._first[self._plain]] = 1.0
        arcs = self._arcs[~np.isnan(row[self._arcs])]
        slopes[self._first[arcs]] = np.cos(_ANGLE * row[arcs])
        slopes[self._first[arcs] + 1] = -np.sin(_ANGLE * row[arcs])
        return slopes

    def _columns(self, slot: int) -> int:
        if slot in self.kinds:
            return int(self.kinds[slot].max()) + 1
        return 2 if self.conditional[slot] else 1

    def _kinds_of(self, slot: int, known: Floats | None) -> Indices:
        count = self.axes[slot].categories
        if known is None or count <= _MANY:
            return np.arange(count)
        there = known[:, slot]
        kept = np.unique(there[~np.isnan(there)].astype(np.int64))
        columns = np.zeros(count, np.int64)
        columns[kept] = np.arange(1, len(kept) + 1)
        return columns

    def _deactivate(self, rows: Floats) -> Floats:
        """Sets slots to NaN that are inactive for the values of their parents."""
        for j, wanted in self._conditions():
            parent = rows[:, self.space.slots[j].parent or 0]
            nearest = np.abs(parent[:, None] - wanted[None, :]).min(axis=1)
            rows[~(nearest < _SAME), j] = np.nan
        return rows

    def _conditions(self) -> Iterable[tuple[int, Floats]]:
        for j, slot in enumerate(self.space.slots):
            if slot.parent is not None:
                above = self.axes[slot.parent]
                yield j, np.array([above.position(value) for value in slot.values])


_SAME = 1e-9
"""Positions of values of one axis are further apart, or they aren't told apart at all."""
