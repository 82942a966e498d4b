"""Candidate rows: random ones, mutations of good ones, and a climb from the best of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

import numpy as np

from footplate.tuning.bayesian.prior import Prior
from footplate.tuning.branches import SpaceBranch
from footplate.tuning.encoding import Encoding

if TYPE_CHECKING:
    from footplate.tuning.axes import Floats

_CHANGED = np.array([0.3, 0.6, 1.0])
"""How many of the slots change: one of these shares, drawn for each row."""
_STEPPED = 0.15
"""How often a slot with steps goes just one step."""
_FAR, _NEAR = (-2.0, -0.5), (-3.0, -1.3)
"""Powers of ten: how far numbers move, in lengths of their axis."""
_SWITCHED = {True: 0.1, False: 0.25}
"""How often a category changes: near, and far."""
_ENOUGH = 0.5
"""After each slot that is drawn anew, how often that is enough."""
_LARGEST = 2**62
"""NumPy draws no larger whole numbers."""
_PARENTS = 5
"""So many of the best measured rows are changed."""
_KEPT = 12
"""So many of the best candidates are changed again, in each round."""
_ASKED = 500
_CLIMBERS, _LOOKED_AT, _APART = 3, 60, 0.03


class Candidates:
    """A source of candidate rows; ``within`` is the branch that all of them must be in."""

    def __init__(
        self, encoding: Encoding, rng: np.random.Generator, within: SpaceBranch | None = None
    ) -> None:
        self._encoding, self._rng, self._within = encoding, rng, within

    def anywhere(self, count: int) -> Floats:
        rows = self._encoding.draw(self._rng.random((count, self._encoding.width)))
        return self.settled(rows) if self._within else rows

    def around(self, rows: Floats, count: int, *, near: bool) -> Floats:
        """Returns rows that are each changed from a random one of ``rows``."""
        changed = rows[self._rng.integers(len(rows), size=count)].copy()
        self._move(changed, near=near)
        self._switch(changed, near=near)
        self._step(changed)
        return self.settled(changed)

    def few(self, rows: Floats, count: int) -> Floats:
        """Returns rows each copied from a random one of ``rows``, with a few slots drawn anew."""
        rng, width = self._rng, self._encoding.width
        parents = rows[rng.integers(len(rows), size=count)]
        drawn = self.anywhere(count)
        wanted = np.minimum(rng.geometric(_ENOUGH, count), width)
        places = rng.random((count, width)).argsort(axis=1).argsort(axis=1)
        anew = (places < wanted[:, None]) & ~np.isnan(drawn)
        return self.settled(np.where(anew, drawn, parents))

    def settled(self, rows: Floats) -> Floats:
        if self._within:
            rows = self._narrowed(rows, self._within)
        return self._encoding.settle(rows, self._rng)

    def _narrowed(self, rows: Floats, within: SpaceBranch) -> Floats:
        """Returns the rows with their values outside the branch replaced by values inside it."""
        narrowed = rows.copy()
        for j, parameter in within.slots(self._encoding.space):
            along = self._encoding.axes[j]
            outside = [p != p or not parameter.has(along.value(p)) for p in rows[:, j].tolist()]
            places = self._rng.integers(min(parameter.count, _LARGEST), size=sum(outside))
            drawn = [parameter.value_at(int(place)) for place in places]
            narrowed[outside, j] = along.positions(drawn)
        return narrowed

    def _move(self, rows: Floats, *, near: bool) -> None:
        rng, (count, width) = self._rng, rows.shape
        reach = 10.0 ** rng.uniform(*(_NEAR if near else _FAR), (count, 1))
        chosen = rng.random((count, width)) < rng.choice(_CHANGED, (count, 1))
        chosen[np.arange(count), rng.integers(width, size=count)] = True
        moved = rows + chosen * reach * rng.standard_normal((count, width))
        numbers = ~self._encoding.categorical
        rows[:, numbers] = np.clip(moved[:, numbers], 0.0, 1.0)

    def _switch(self, rows: Floats, *, near: bool) -> None:
        for j in np.flatnonzero(self._encoding.categorical):
            active = ~np.isnan(rows[:, j])
            chosen = (self._rng.random(len(rows)) < _SWITCHED[near]) & active
            kinds = self._encoding.axes[j].categories
            rows[chosen, j] = self._rng.integers(kinds, size=int(chosen.sum()))

    def _step(self, rows: Floats) -> None:
        for j in np.flatnonzero(self._encoding.stepped):
            steps = self._encoding.axes[j].steps
            chosen = self._rng.random(len(rows)) < _STEPPED
            step = self._rng.choice([-1.0, 1.0], int(chosen.sum())) / max(steps - 1, 1)
            rows[chosen, j] = np.clip(rows[chosen, j] + step, 0.0, 1.0)


class LocalOptimum(Protocol):
    """The function that a local search maximizes."""

    def of(self, rows: Floats) -> Floats: ...

    def polished(self, row: Floats) -> Floats: ...


def sweep(
    worth: LocalOptimum, candidates: Candidates, best_rows: Floats, count: int, *, focused: bool
) -> Iterator[Floats]:
    """Yields the best rows found, best first; ``best_rows`` are measured rows, best first.

    The search looks at about 5/3 of ``count`` rows: half of ``count`` anywhere, the others changed
    from measured rows, then from the best rows found. ``focused`` looks nearer to the measured
    rows: most candidates are copies of them with a few slots drawn anew. Little is known of rows
    that differ from all good rows in every slot, so they are then seldom worth a trial.
    """
    parents = best_rows[:_PARENTS]
    if focused:
        few = candidates.few(parents, count // 2)
        around = candidates.around(parents, count // 4, near=False)
        rows = np.vstack([candidates.anywhere(count // 4), few, around])
    else:
        around = candidates.around(parents, count // 2, near=False)
        rows = np.vstack([candidates.anywhere(count // 2), around])
    values = worth.of(rows)
    for near in (focused, True):
        top = rows[np.argsort(-values, kind="stable")[:_KEPT]]
        more = candidates.around(top, count // 3, near=near)
        rows, values = np.vstack([rows, more]), np.concatenate([values, worth.of(more)])
    order = np.argsort(-values, kind="stable")
    climbed = np.array([worth.polished(row) for row in _climbers(rows[order])])
    summits = candidates.settled(climbed)
    yield from _in_order(worth.of, np.vstack([rows[order[:1]], summits]))
    yield from rows[order]


def sweep_prior(prior: Prior, candidates: Candidates) -> Iterator[Floats]:
    """Returns the rows from which earlier studies expect the most, best first."""
    rows = candidates.anywhere(_ASKED)
    for near in (False, True):
        top = rows[np.argsort(prior.mean(rows), kind="stable")[:_KEPT]]
        rows = np.vstack([rows, candidates.around(top, _ASKED // 2, near=near)])
    return iter(rows[np.argsort(prior.mean(rows), kind="stable")])


def sweep_all(worth: LocalOptimum, rows: Floats) -> Iterator[Floats]:
    """Returns all rows of a small space, best first."""
    return _in_order(worth.of, rows)


def _in_order(values: Callable[[Floats], Floats], rows: Floats) -> Iterator[Floats]:
    return iter(rows[np.argsort(-values(rows), kind="stable")])


def _climbers(rows: Floats) -> list[Floats]:
    """Returns some rows that aren't close to each other; the given rows are sorted, best first."""
    chosen: list[Floats] = []
    for row in rows[:_LOOKED_AT]:
        if all(np.nan_to_num(np.abs(row - other), nan=1.0).max() > _APART for other in chosen):
            chosen.append(row)
        if len(chosen) == _CLIMBERS:
            break
    return chosen
