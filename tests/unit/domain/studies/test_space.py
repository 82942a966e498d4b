"""Search spaces: which points they have, and how many."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import assume, given

from footplate.domain.studies.parameters import (
    Branch,
    CategoricalParameter,
    DiscreteParameter,
    DoubleParameter,
    IntegerParameter,
    Scale,
)
from footplate.domain.studies.space import SearchSpace, key
from tests.unit.tuning.spaces import BRIEF, spaces

RATE = DoubleParameter("rate", 0.01, 0.1)
OVERLAP = (Branch(("a",), RATE), Branch(("a", "b"), RATE))
SGD = Branch(("sgd",), DoubleParameter("momentum", 0.0, 1.0))
OPTIMIZER = CategoricalParameter("optimizer", ("sgd", "adam"), branches=(SGD,))


@BRIEF
@given(spaces(finite=True))
def test_numbered_points_are_all_the_points_each_once(space: SearchSpace) -> None:
    assume(space.size is not None and space.size <= 500)
    points = [space.point_at(index) for index in range(space.size or 0)]
    assert all(space.has(point) for point in points)
    assert len({key(point) for point in points}) == len(points)
    with pytest.raises(IndexError):
        space.point_at(space.size or 0)


def test_points_come_like_nested_loops_with_what_depends_within_its_value() -> None:
    below = Branch((2,), CategoricalParameter("under", ("x", "y")))
    space = SearchSpace(
        (IntegerParameter("i", 1, 3, branches=(below,)), DiscreteParameter("d", (0.5, 2.0)))
    )
    assert [tuple(space.point_at(i).values()) for i in range(8)] == [
        *[(1, 0.5), (1, 2.0), (2, "x", 0.5), (2, "x", 2.0)],
        *[(2, "y", 0.5), (2, "y", 2.0), (3, 0.5), (3, 2.0)],
    ]


def test_a_grid_may_be_larger_than_can_be_walked_through() -> None:
    below = Branch((0, 10**18), CategoricalParameter("under", ("x", "y")))
    space = SearchSpace((IntegerParameter("i", 0, 10**18, branches=(below,)),))
    assert space.size == 10**18 + 3
    assert space.point_at(10**18 + 2) == {"i": 10**18, "under": "y"}
    assert space.point_at(2) == {"i": 1}


def test_a_range_of_real_numbers_has_no_size_unless_its_bounds_are_equal() -> None:
    assert SearchSpace((RATE,)).size is None
    with pytest.raises(ValueError, match="no numbered points"):
        SearchSpace((RATE,)).point_at(0)
    fixed = SearchSpace((DoubleParameter("rate", 0.5, 0.5), OPTIMIZER))
    assert fixed.size is None  # the momentum
    assert SearchSpace((DoubleParameter("rate", 0.5, 0.5),)).point_at(0) == {"rate": 0.5}


@pytest.mark.parametrize(
    ("point", "said"),
    [
        ({"optimizer": "adam"}, []),
        ({"optimizer": "sgd", "momentum": 0.5}, []),
        ({"optimizer": "sgd"}, ["momentum: required: 0 to 1"]),
        (
            {"optimizer": "adam", "momentum": 0.5},
            ["parameter momentum given; allowed only with optimizer of 'sgd'"],
        ),
        ({"optimizer": "sgd", "momentum": 2.0}, ["momentum: 2.0 given; allowed: 0 to 1"]),
        ({"optimizer": "sgd", "momentum": float("nan")}, ["momentum: nan given; allowed: 0 to 1"]),
        ({"optimizer": 1}, ["optimizer: 1 given; allowed: 'sgd', 'adam'"]),
        ({}, ["optimizer: required: 'sgd', 'adam'"]),
        (
            {"optimizer": "adam", "momentun": 1},
            ["'momentun' given, which is no parameter of the study; allowed: momentum, optimizer"],
        ),
    ],
)
def test_a_point_has_a_value_for_each_active_parameter_and_no_more(
    point: dict[str, float | str], said: list[str]
) -> None:
    assert list(SearchSpace((OPTIMIZER,)).problems(point)) == said


def test_whole_numbers_are_whole() -> None:
    layers = IntegerParameter("layers", 1, 5)
    assert layers.has(5)
    assert not any(layers.has(value) for value in (6, 2.5, 2.0, True, "2"))


def test_a_name_may_return_below_other_values_of_one_parent() -> None:
    under = CategoricalParameter(
        "model",
        ("tree", "net", "line"),
        branches=(
            Branch(("tree",), DoubleParameter("rate", 0.0, 1.0)),
            Branch(("net", "line"), DoubleParameter("rate", 5.0, 6.0)),
        ),
    )
    space = SearchSpace((under,))
    assert space.has({"model": "tree", "rate": 0.5})
    assert not space.has({"model": "net", "rate": 0.5})
    assert space.active_values({"model": "line", "rate": 5.5}) == ("line", None, 5.5)
    assert space.names == {"model", "rate"}


@pytest.mark.parametrize(
    "parameters",
    [
        (RATE, RATE),
        (CategoricalParameter("rate", ("a",), branches=(Branch(("a",), RATE),)),),
        (CategoricalParameter("c", ("a", "b"), branches=(Branch(("a",), RATE),)), RATE),
        (CategoricalParameter("c", ("a", "b"), branches=OVERLAP),),
    ],
)
def test_two_parameters_of_a_name_are_never_active_at_once(
    parameters: tuple[DoubleParameter, ...],
) -> None:
    with pytest.raises(ValueError, match="rate given twice"):
        SearchSpace(parameters)


def test_bad_parameters_are_mistakes_of_the_caller() -> None:
    with pytest.raises(ValueError, match="the lower one first"):
        DoubleParameter("x", 1.0, 0.0)
    with pytest.raises(ValueError, match="more than 0"):
        IntegerParameter("x", 0, 5, Scale.LOG)
    with pytest.raises(ValueError, match="increasing"):
        DiscreteParameter("x", (1.0, 1.0))
    with pytest.raises(ValueError, match="different texts"):
        CategoricalParameter("x", ("a", "a"))
    with pytest.raises(ValueError, match="one of its values"):
        DoubleParameter("x", 0.0, 1.0, default=2.0)
    with pytest.raises(ValueError, match="values of the parent parameter x"):
        CategoricalParameter("x", ("a",), branches=(Branch(("b",), RATE),))
    with pytest.raises(ValueError, match="at least one"):
        SearchSpace(())


def test_slots_stand_behind_their_parents() -> None:
    slots = SearchSpace((RATE, OPTIMIZER)).slots
    assert [(s.parameter.name, s.parent) for s in slots] == [
        ("rate", None),
        ("optimizer", None),
        ("momentum", 1),
    ]
    assert all(a.parent is None or a.parent < i for i, (a, _) in enumerate(pairwise(slots)))
