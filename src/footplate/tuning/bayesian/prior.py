"""Prior beliefs from earlier studies of other spaces.

Their models stack: each study's Gaussian process models what the one before it leaves to explain.
Source: Golovin et al., "Google Vizier: A Service for Black-Box Optimization", 2017, section 3.3.
How much of the earlier is believed is learned: all at first, nothing once own trials contradict.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from footplate.domain.studies.parameters import (
    CategoricalParameter,
    DiscreteParameter,
    Parameter,
    Value,
)
from footplate.domain.studies.study import Study
from footplate.tuning.axes import Axis
from footplate.tuning.bayesian.observations import observe, related_studies
from footplate.tuning.encoding import Encoding

if TYPE_CHECKING:
    from footplate.tuning.axes import Floats

    Column = Callable[[Floats], Floats]

_NODES = 257
"""Positions between these are interpolated: a prior needn't be exact."""
MOST_STUDIES = 3
"""The latest of those that say anything."""
_MIN_TRIALS = 5
_PATIENCE = 2.0
"""So many own trials weigh as much as the belief that the earlier study is right."""
_MOST_WEIGHT = 1.5
_STEP = 1e-4


class SpaceMapping:
    def __init__(self, here: Encoding, there: Encoding) -> None:
        self._there = there
        self._sources = [_sources(here, there, slot) for slot in range(there.width)]

    def rows(self, rows: Floats) -> Floats:
        """Translates rows to the earlier space; NaN for inactive slots and missing categories."""
        found = np.full((len(rows), self._there.width), np.nan)
        for slot, sources in enumerate(self._sources):
            for column, translate in sources:
                empty = np.isnan(found[:, slot]) & ~np.isnan(rows[:, column])
                found[empty, slot] = translate(rows[empty, column])
        plain = ~(self._there.categorical | self._there.conditional)
        found[:, plain] = np.nan_to_num(found[:, plain], nan=0.5)
        return found


def _sources(here: Encoding, there: Encoding, slot: int) -> list[tuple[int, Column]]:
    """Returns the columns of this space that correspond to a slot of the earlier one."""
    wanted = there.space.slots[slot].parameter
    return [
        (column, _translator(here.axes[column], there.axes[slot], wanted))
        for column, candidate in enumerate(here.space.slots)
        if candidate.parameter.name == wanted.name
        and bool(here.axes[column].categories) == bool(there.axes[slot].categories)
    ]


def _translator(here: Axis, there: Axis, wanted: Parameter) -> Column:
    if here.categories:
        values = [here.value(float(place)) for place in range(here.categories)]
        table = np.array([there.position(v) if wanted.has(v) else np.nan for v in values])
        return lambda column: table[column.astype(np.int64)]
    nodes = np.linspace(0.0, 1.0, _NODES)
    values = [_within(wanted, here.value(float(node))) for node in nodes]
    meant = [there.position(value) for value in values]
    return lambda column: np.interp(column, nodes, meant)


def _within(parameter: Parameter, value: Value) -> Value:
    """Returns the nearest value within the parameter's bounds, not always one of its values."""
    if isinstance(parameter, CategoricalParameter) or isinstance(value, str):
        return value
    ends = (
        parameter.values
        if isinstance(parameter, DiscreteParameter)
        else (parameter.low, parameter.high)
    )
    return min(max(value, ends[0]), ends[-1])


class Prior:
    """A prior from an earlier study: the mean of its surrogate, in units of its own spread."""

    def __init__(
        self, here: Encoding, there: Encoding, mean_there: Callable[[Floats], Floats]
    ) -> None:
        """Prepares the translation; ``mean_there`` returns the mean for rows of the other study."""
        self._translation, self._mean_there = SpaceMapping(here, there), mean_there

    def mean(self, rows: Floats) -> Floats:
        return self._mean_there(self._translation.rows(rows))

    def slopes(self, row: Floats) -> Floats:
        """Returns the slope along each slot, by small steps; 0 where there is none."""
        width = len(row)
        ends = np.repeat(row[None, :], 2 * width, axis=0)
        places = np.arange(width)
        ends[places, places] += _STEP
        ends[places + width, places] -= _STEP
        found = self.mean(np.clip(ends, 0.0, None))
        return np.nan_to_num((found[:width] - found[width:]) / (2.0 * _STEP))


class Belief:
    """The weight of the prior that explains own trials best; it is near 1 at first.

    ``warped`` has the losses of own trials, ``expected`` their means by the prior.
    """

    def __init__(self, expected: Floats, warped: Floats) -> None:
        self.centre = float(expected.mean()) if len(expected) else 0.0
        off = expected - self.centre
        weight = (off @ warped + _PATIENCE) / (off @ off + _PATIENCE)
        self.weight = float(np.clip(weight, 0.0, _MOST_WEIGHT))
        self.explained: Floats = self.weight * off


def unrelated_studies(study: Study) -> list[Study]:
    """Returns earlier studies with the same metrics and another space, oldest first.

    The trials of studies with the same space count as own trials instead.
    """
    same = related_studies(study)
    metrics, names = study.config.metrics, study.config.space.names
    found: list[Study] = []
    for one in study.earlier:
        known = one.config.metrics == metrics and not names.isdisjoint(one.config.space.names)
        alone = replace(one, earlier=())
        if known and one not in same and _tells(alone):
            found.append(alone)
    return found[-MOST_STUDIES:]


def _tells(study: Study) -> bool:
    return len(observe(study, Encoding(study.config.space)).rows) >= _MIN_TRIALS
