"""Branches of a space, and the bound within which each is tried."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.studies.parameters import (
    Branch,
    CategoricalParameter,
    DiscreteParameter,
    DoubleParameter,
    IntegerParameter,
)
from footplate.domain.studies.space import Point, SearchSpace
from footplate.tuning.branches import FEW, INITIAL_TRIALS, MOST, bound, branches, neglected
from footplate.tuning.encoding import Encoding
from footplate.tuning.sampling import draw, draw_new, generator
from tests.unit.tuning.spaces import BRIEF, spaces

GAMMA = DoubleParameter("gamma", 0.0, 1.0)
KERNEL = CategoricalParameter("kernel", ("linear", "rbf"), branches=(Branch(("rbf",), GAMMA),))
FAMILY = CategoricalParameter(
    "family",
    ("svm", "trees"),
    branches=(Branch(("svm",), KERNEL), Branch(("trees",), IntegerParameter("depth", 1, 9))),
)
LAYERS = IntegerParameter("layers", 1, 6, branches=(Branch((2, 3), DoubleParameter("w", 0, 1)),))


def names(space: SearchSpace) -> list[str]:
    return [str(branch) for branch in branches(space)]


def test_conditional_parents_make_branches_together() -> None:
    assert names(SearchSpace((FAMILY,))) == [
        "branch `family=svm, kernel=linear`",
        "branch `family=svm, kernel=rbf`",
        "branch `trees`",
    ]
    assert len(names(SearchSpace((FAMILY, LAYERS)))) == 9


def test_categories_that_nothing_depends_on_make_branches_alone() -> None:
    space = SearchSpace((FAMILY, CategoricalParameter("scaler", ("none", "standard"))))
    assert names(space)[3:] == ["branch `none`", "branch `standard`"]
    assert bound(space) == 4 * 5 + 8


def test_numbers_make_branches_by_what_depends_on_them() -> None:
    assert names(SearchSpace((LAYERS,))) == [
        "branch `layers=1`",
        "branch `layers=2 to 3`",
        "branch `layers=4 to 6`",
    ]
    steps = DiscreteParameter("d", (1.0, 2.0, 3.0), branches=(Branch((2.0,), GAMMA),))
    assert [b.chosen[0].count for b in branches(SearchSpace((steps,)))] == [2, 1]


def test_numbers_alone_and_single_categories_make_none() -> None:
    space = SearchSpace((GAMMA, CategoricalParameter("c", ("only",)), IntegerParameter("i", 0, 3)))
    assert branches(space) == ()
    assert neglected(space, [draw(space, generator(0, i)) for i in range(40)], again=False) is None


def test_too_many_combinations_count_by_themselves() -> None:
    def choice(name: str) -> CategoricalParameter:
        kinds = tuple("abcdefghi")
        below = DoubleParameter(f"{name}x", 0.0, 1.0)
        return CategoricalParameter(name, kinds, branches=(Branch(kinds, below),))

    assert len(branches(SearchSpace((choice("p"), choice("q"))))) == 18


def test_the_reason_says_how_long_a_branch_has_waited() -> None:
    space = SearchSpace((CategoricalParameter("optimizer", ("sgd", "adam")), GAMMA))
    trials: list[Point] = [{"optimizer": "sgd", "gamma": 0.5}] * 14
    found = neglected(space, trials, again=False)
    assert str(found) == "branch `adam` was not tried in the first 14 trials"
    trials = [{"optimizer": "adam", "gamma": 0.5}, *trials]
    assert str(neglected(space, trials, again=False)) == "branch `adam` was not tried for 14 trials"


def test_more_than_twenty_branches_wait_until_they_are_overdue() -> None:
    few, many = (
        SearchSpace((CategoricalParameter("kind", tuple(map(str, range(count)))), GAMMA))
        for count in (FEW, FEW + 1)
    )
    trials: list[Point] = [{"kind": "0", "gamma": 0.5}] * INITIAL_TRIALS
    assert neglected(few, trials[1:], again=False) is None
    found = neglected(few, trials, again=False)
    assert str(found) == "branch `1` was not tried in the first 10 trials"
    assert neglected(many, trials, again=False) is None
    assert neglected(many, trials * 8, again=False) is not None


def test_a_branch_without_points_left_is_left_out() -> None:
    space = SearchSpace((CategoricalParameter("c", ("a", "b")), IntegerParameter("i", 0, 50)))
    few: Point = {"c": "a", "i": 0}
    many: Point = {"c": "b", "i": 3}
    trials = [few] + [many] * 40
    assert neglected(space, trials, again=False) is not None
    space = SearchSpace((FAMILY, CategoricalParameter("other", ("x", "y"))))
    linear = {"family": "svm", "kernel": "linear"}
    both: list[Point] = [{**linear, "other": "x"}, {**linear, "other": "y"}]
    later = [*both, *(draw(branches(space)[2].space, generator(3, i)) for i in range(60))]
    found = neglected(space, later, again=False)
    assert found is not None
    assert str(found.branch) == "branch `family=svm, kernel=rbf`"


@BRIEF
@given(spaces(depth=2), st.integers(0, 2**31))
def test_each_point_is_in_one_branch_of_each_choice(space: SearchSpace, seed: int) -> None:
    point = draw(space, generator(seed))
    for branch in branches(space):
        assert branch.has(point) == branch.space.has(point)
        inside = draw(branch.space, generator(seed))
        assert space.has(inside)
        assert branch.has(inside)
        encoding = Encoding(space)
        places = dict(branch.slots(space))
        assert len(places) == len(branch.chosen)
        active = encoding.row(inside) == encoding.row(inside)
        assert all(active[place] for place in places)
    if branches(space):
        assert any(branch.has(point) for branch in branches(space))


@BRIEF
@given(spaces(depth=2), st.integers(0, 2**31), st.integers(0, 3))
def test_each_branch_is_tried_within_the_bound(space: SearchSpace, seed: int, kept: int) -> None:
    """The chooser of the other points avoids all branches but those of one point."""
    every = branches(space)
    if not every or len(every) > MOST // 4:
        return
    loved = [b for b in every if b.has(draw(space, generator(seed)))]
    trials: list[Point] = []
    for number in range(3 * bound(space)):
        found = neglected(space, trials, again=True)
        if found is not None:
            trials.append(draw(found.branch.space, generator(seed, number)))
        else:
            trials.append(draw(loved[kept % len(loved)].space, generator(seed, number)))
    for branch in every:
        if len(every) <= FEW:
            assert any(map(branch.has, trials[: len(every) + INITIAL_TRIALS]))
        gap = 0
        for trial in trials:
            gap = 0 if branch.has(trial) else gap + 1
            assert gap < bound(space)


def test_a_large_choice_waits_behind_the_others() -> None:
    kinds = CategoricalParameter("kind", tuple(map(str, range(MOST + 1))))
    space = SearchSpace((FAMILY, kinds))
    assert bound(space) == 4 * 3 + 8
    trials: list[Point] = []
    for number in range(4 * (kinds.count + 3) + 8):
        found = neglected(space, trials, again=True)
        branch = found.branch if found else branches(space)[2]
        favoured = {} if found else {"kind": "0"}
        trials.append({**draw(branch.space, generator(number)), **favoured})
    assert {trial["kind"] for trial in trials} == set(kinds.values)


def test_points_left_in_a_branch_are_found() -> None:
    space = SearchSpace((FAMILY,))
    trees = branches(space)[2]
    tried: list[Point] = [{"family": "trees", "depth": depth} for depth in range(1, 9)]
    left = draw_new(trees.space, generator(0), trees.inside(tried), again=False)
    assert left == {"family": "trees", "depth": 9}
