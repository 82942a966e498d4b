"""Values as positions on an axis, and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.studies.parameters import (
    DiscreteParameter,
    DoubleParameter,
    IntegerParameter,
    Scale,
)
from footplate.tuning.axes import axis
from tests.unit.tuning.spaces import BRIEF, CATEGORIES, discretes, doubles, few_integers, integers

UNIT = st.floats(0.0, 1.0)


@BRIEF
@given(doubles() | integers() | discretes() | CATEGORIES, UNIT)
def test_every_position_has_a_value_and_snapping_keeps_it(parameter: object, unit: float) -> None:
    along = axis(parameter)  # type: ignore[arg-type]  # Hypothesis joins the kinds to object
    (position,) = along.snap(along.spread(np.array([unit])))
    value = along.value(position)
    assert parameter.has(value)  # type: ignore[attr-defined]  # the same
    again = along.value(along.position(value))
    if isinstance(value, str):
        assert again == value
    else:
        largest = max(abs(along.value(0.0)), abs(along.value(1.0)))  # type: ignore[arg-type]  # numbers
        assert again == pytest.approx(value, abs=1e-9 * largest)


@BRIEF
@given(few_integers() | discretes() | CATEGORIES)
def test_each_of_a_few_values_has_its_own_position(parameter: object) -> None:
    along = axis(parameter)  # type: ignore[arg-type]  # Hypothesis joins the kinds to object
    values = [parameter.value_at(i) for i in range(parameter.count)]  # type: ignore[attr-defined]  # the same
    assert [along.value(along.position(value)) for value in values] == values
    drawn = along.spread(np.linspace(0, 1, 2000))
    assert {along.value(position) for position in drawn} == set(values)


@pytest.mark.parametrize(
    ("scale", "middle"),
    [(Scale.NONE, 50.5), (Scale.LINEAR, 50.5), (Scale.LOG, 10.0), (Scale.REVERSE_LOG, 91.0)],
)
def test_the_scale_says_what_lies_in_the_middle(scale: Scale, middle: float) -> None:
    along = axis(DoubleParameter("x", 1.0, 100.0, scale))
    assert along.value(0.5) == pytest.approx(middle)
    assert [along.value(0.0), along.value(1.0)] == pytest.approx([1.0, 100.0])


@pytest.mark.parametrize(
    ("low", "high", "middle"),
    [(0.0001, 1.0, 0.01), (0.001, 0.1, 0.01), (1e-6, 1e-2, 1e-4), (3e-5, 0.3, 0.003)],
)
def test_what_a_user_would_write_short_is_short(low: float, high: float, middle: float) -> None:
    along = axis(DoubleParameter("x", low, high, Scale.LOG))
    assert [along.value(0.0), along.value(0.5), along.value(1.0)] == [low, middle, high]


def test_a_range_of_a_few_bits_keeps_its_values() -> None:
    along = axis(DoubleParameter("x", 1.0, 1.0 + 2**-50, Scale.LINEAR))
    assert len({along.value(unit) for unit in np.linspace(0, 1, 9)}) == 5


def test_discrete_values_without_a_scale_lie_evenly() -> None:
    sizes = (16.0, 32.0, 64.0, 1024.0)
    even, linear = (axis(DiscreteParameter("x", sizes, s)) for s in (Scale.NONE, Scale.LINEAR))
    assert [even.position(size) for size in sizes] == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert linear.position(64.0) == pytest.approx(48 / 1008)


def test_whole_numbers_get_equal_shares_of_a_linear_axis() -> None:
    along = axis(IntegerParameter("x", 1, 3))
    drawn = along.spread((np.arange(3000) + 0.5) / 3000)
    assert [int((drawn == p).sum()) for p in (0.0, 0.5, 1.0)] == [1000, 1000, 1000]


@pytest.mark.parametrize("low", [-1.7e308, 1e-300])
def test_the_widest_ranges_stay_numbers(low: float) -> None:
    scale = Scale.LOG if low > 0 else Scale.LINEAR
    along = axis(DoubleParameter("x", low, 1.7e308, scale))
    assert all(np.isfinite(along.value(p)) for p in (0.0, 0.3, 1.0))
    assert along.position(along.value(0.3)) == pytest.approx(0.3)


@pytest.mark.parametrize("low", [2**53, -(2**63), 2**62])
def test_the_largest_whole_numbers_are_told_apart(low: int) -> None:
    along = axis(IntegerParameter("x", low, low + 3))
    assert [along.value(along.position(low + i)) for i in range(4)] == [low + i for i in range(4)]
