"""Finds the best row: evaluates many candidates and climbs from the best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from footplate.tuning.axes import Floats
    from footplate.tuning.bayesian.candidates import Candidates

_PARENTS = 5
"""So many of the best measured rows are changed."""
_KEPT = 12
"""So many of the best candidates are changed again, in each round."""
_ASKED = 500
_CLIMBERS, _LOOKED_AT, _APART = 3, 60, 0.03


class Expectation(Protocol):
    def mean(self, rows: Floats) -> Floats: ...


class LocalOptimum(Protocol):
    """What is climbed."""

    def of(self, rows: Floats) -> Floats: ...

    def polished(self, row: Floats) -> Floats: ...


def sweep(
    worth: LocalOptimum, candidates: Candidates, best_rows: Floats, count: int, *, focused: bool
) -> Iterator[Floats]:
    """The best rows found, best first; ``best_rows`` are measured ones, best first.

    About 5/3 of ``count`` rows are looked at: half of ``count`` anywhere, the others changed from
    measured ones, then from the best of those found. ``focused``: nearer to the measured ones, most
    of which get a few slots drawn anew. What differs from all good rows in everything is seldom
    worth it then, little as is known of it.
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


def sweep_prior(prior: Expectation, candidates: Candidates) -> Iterator[Floats]:
    """The rows of which earlier studies expect the most, best first."""
    rows = candidates.anywhere(_ASKED)
    for near in (False, True):
        top = rows[np.argsort(prior.mean(rows), kind="stable")[:_KEPT]]
        rows = np.vstack([rows, candidates.around(top, _ASKED // 2, near=near)])
    return iter(rows[np.argsort(prior.mean(rows), kind="stable")])


def sweep_all(worth: LocalOptimum, rows: Floats) -> Iterator[Floats]:
    """The best first, of all the rows there are."""
    return _in_order(worth.of, rows)


def _in_order(values: Callable[[Floats], Floats], rows: Floats) -> Iterator[Floats]:
    return iter(rows[np.argsort(-values(rows), kind="stable")])


def _climbers(rows: Floats) -> list[Floats]:
    """Of rows with the best first: some that aren't next to each other."""
    chosen: list[Floats] = []
    for row in rows[:_LOOKED_AT]:
        if all(np.nan_to_num(np.abs(row - other), nan=1.0).max() > _APART for other in chosen):
            chosen.append(row)
        if len(chosen) == _CLIMBERS:
            break
    return chosen
