"""Search spaces, drawn: all kinds of parameters, all scales, conditions in conditions."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from footplate.domain.studies.parameters import (
    Branch,
    CategoricalParameter,
    DiscreteParameter,
    DoubleParameter,
    IntegerParameter,
    Parameter,
    Scale,
)
from footplate.domain.studies.space import SearchSpace
from tests.support.profiles import scaled

BRIEF = settings(
    deadline=None, max_examples=scaled(40), suppress_health_check=[HealthCheck.too_slow]
)
"""Machines that are busy are slow; that proves nothing."""
SCALES = st.sampled_from(Scale)


@st.composite
def doubles(draw: st.DrawFn) -> DoubleParameter:
    scale = draw(SCALES)
    least = 1e-8 if scale.logarithmic else -1e6
    low, high = sorted(draw(st.tuples(*[st.floats(least, 1e6)] * 2)))
    return DoubleParameter("x", low, high, scale)


@st.composite
def integers(draw: st.DrawFn, most: int = 2**62) -> IntegerParameter:
    scale = draw(SCALES)
    low = draw(st.integers(1 if scale.logarithmic else -most, most))
    return IntegerParameter("x", low, low + draw(st.sampled_from([0, 1, 5, 40, most])), scale)


@st.composite
def few_integers(draw: st.DrawFn) -> IntegerParameter:
    scale = draw(SCALES)
    low = draw(st.integers(1, 20))
    return IntegerParameter("x", low, low + draw(st.integers(0, 6)), scale)


@st.composite
def discretes(draw: st.DrawFn) -> DiscreteParameter:
    scale = draw(SCALES)
    least = 0.001 if scale.logarithmic else -100.0
    values = draw(
        st.lists(st.floats(least, 1000.0).map(lambda v: round(v, 3)), min_size=1, max_size=6)
    )
    return DiscreteParameter("x", tuple(sorted(set(values))), scale)


CATEGORIES = st.integers(1, 4).map(lambda n: CategoricalParameter("x", tuple("abcd"[:n])))


@st.composite
def _tree(
    draw: st.DrawFn, leaf: st.SearchStrategy[Parameter], depth: int, names: count[int]
) -> Parameter:
    parameter = replace(draw(leaf), name=f"p{next(names)}")
    if depth == 0 or isinstance(parameter, DoubleParameter) or parameter.count > 1000:
        return parameter
    branches = []
    for _ in range(draw(st.integers(0, 2))):
        places = draw(st.sets(st.integers(0, parameter.count - 1), min_size=1, max_size=3))
        values = tuple(parameter.value_at(place) for place in sorted(places))
        branches.append(Branch(values, draw(_tree(leaf, depth - 1, names))))
    return replace(parameter, branches=tuple(branches))


@st.composite
def spaces(draw: st.DrawFn, *, finite: bool = False, depth: int = 1) -> SearchSpace:
    countable = few_integers() | discretes() | CATEGORIES
    leaf: st.SearchStrategy[Parameter] = countable if finite else countable | doubles() | integers()
    names = count()
    number = draw(st.integers(1, 3))
    return SearchSpace(tuple(draw(_tree(leaf, depth, names)) for _ in range(number)))
