"""Splits of datasets: every row is in one set, by rules that hold for any data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.data_assignment import MAX_VALUES, RowKey, assignment_of
from footplate.domain.data_splits import (
    DEFAULT_FRACTIONS,
    SETS,
    DataSet,
    DataSplit,
    Fractions,
    SplitMethod,
    apportion,
)
from footplate.domain.data_times import TimeCuts, parse_nanoseconds
from footplate.domain.errors import FailedPrecondition

TRAINING, VALIDATION, TEST = SETS
shares = st.sampled_from([0.0, 0.0, 0.1, 0.2, 1 / 3])
fractions = st.builds(Fractions, shares, shares, shares)
columns = st.lists(st.sampled_from("abcdefg"), max_size=80)


def assign(split: DataSplit, keys: Sequence[RowKey]) -> list[DataSet | None]:
    """Returns the set of each row, after checking that it is what was announced."""
    assignment = assignment_of(split, lambda _: None)
    more = True
    while more:
        for key in keys:
            assignment.look(key)
        more = assignment.end_pass()
    found = [assignment.assign(key) for key in keys]
    assert assignment.sizes() == {each: found.count(each) for each in SETS}
    return found


@given(fractions)
def test_fractions_are_completed_to_everything(given_fractions: Fractions) -> None:
    found = given_fractions.complete()
    assert sum(found) == pytest.approx(1)
    assert min(found) >= 0


def test_what_is_not_given_shares_what_is_left() -> None:
    assert Fractions().complete() == DEFAULT_FRACTIONS
    assert Fractions(0.8).complete() == pytest.approx((0.8, 0.1, 0.1))
    assert Fractions(0.8, 0.2).complete() == pytest.approx((0.8, 0.2, 0))
    assert Fractions(0.4, 0.1, 0.1).complete() == pytest.approx((2 / 3, 1 / 6, 1 / 6))
    assert Fractions(0.8, 0.1, 0.2).excess
    assert not Fractions(0.7, 0.2, 0.1).excess


@given(st.integers(0, 10_000), fractions)
def test_sizes_are_the_fractions_rounded(count: int, given_fractions: Fractions) -> None:
    complete = given_fractions.complete()
    sizes = apportion(count, complete)
    assert sum(sizes) == count
    for size, share in zip(sizes, complete, strict=True):
        assert size == 0 if share == 0 else abs(size - count * share) <= 2
        assert size > 0 or share == 0 or count < len(SETS)


@given(st.integers(0, 200), fractions)
def test_a_random_split_has_the_exact_sizes_and_is_repeatable(
    count: int, given_fractions: Fractions
) -> None:
    split, keys = DataSplit(fractions=given_fractions), [""] * count
    found = assign(split, keys)
    sizes = Counter(found)
    assert tuple(sizes[each] for each in SETS) == apportion(count, given_fractions.complete())
    assert assign(split, keys) == found


def test_a_random_split_mixes_the_rows() -> None:
    found = assign(DataSplit(), [""] * 1000)
    tests = [index for index, each in enumerate(found) if each is TEST]
    assert min(tests) < 100
    assert max(tests) > 900
    assert None not in found


@given(columns, fractions)
def test_a_stratified_split_mirrors_each_value(
    values: list[str], given_fractions: Fractions
) -> None:
    split = DataSplit(SplitMethod.STRATA, given_fractions, "c")
    found = assign(split, values)
    assert None not in found
    complete = given_fractions.complete()
    for value, count in Counter(values).items():
        if count < 3:
            continue
        sizes = Counter(each for each, key in zip(found, values, strict=True) if key == value)
        for each, share in zip(SETS, complete, strict=True):
            assert abs(sizes[each] - count * share) <= 2


def test_rounding_in_strata_favours_no_set() -> None:
    values = [str(index % 250) for index in range(1000)]  # 4 of each: 3.2, 0.4 and 0.4
    sizes = Counter(assign(DataSplit(SplitMethod.STRATA, key="c"), values))
    assert [sizes[each] for each in SETS] == [800, 100, 100]


def test_a_column_without_categories_has_no_strata() -> None:
    with pytest.raises(FailedPrecondition, match="column 'c' has more than 100000 different"):
        assign(DataSplit(SplitMethod.STRATA, key="c"), [str(i) for i in range(MAX_VALUES + 1)])


def test_a_predefined_split_ignores_other_values() -> None:
    split = DataSplit(SplitMethod.PREDEFINED, key="use")
    keys = ["training", "TEST", "", "validation", "Training", "TRAIN", "UNASSIGNED"]
    expected = [TRAINING, TEST, None, VALIDATION, None, TRAINING, None]
    assert assign(split, keys) == expected


times = st.lists(
    st.one_of(st.integers(-3, 3), st.integers(-(10**19), 10**19)), min_size=0, max_size=60
)


@given(times, fractions, st.sampled_from([4, 7, 100]))
def test_the_earliest_rows_come_first_however_coarse_the_passes(
    values: list[int], given_fractions: Fractions, most: int
) -> None:
    cuts = TimeCuts(given_fractions.complete(), most)
    more = True
    while more:
        for value in values:
            cuts.look(value)
        more = cuts.end_pass()
    parts = [cuts.part_of(value) for value in values]
    assert tuple(parts.count(index) for index in range(len(SETS))) == cuts.sizes
    order = sorted(range(len(values)), key=lambda index: (values[index], index))
    assert [parts[index] for index in order] == sorted(parts)


def test_a_split_by_time_ignores_what_is_no_time() -> None:
    split = DataSplit(SplitMethod.TIMES, Fractions(0.5, 0.25, 0.25), "t")
    keys = [
        "2026-01-03T00:00:00Z",
        "2026-01-03",
        "2026-01-01T00:00:00Z",
        "",
        "2026-01-02T00:00:00Z",
    ]
    assert assign(split, [*keys, "2026-01-04T00:00:00Z"]) == [
        VALIDATION, None, TRAINING, None, TRAINING, TEST,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01t00:00:01.000000001z", 1_000_000_001),
        (" 1969-12-31T23:59:59.5Z ", -500_000_000),
        ("1970-01-01T00:00:00+00:00", None),
        ("1970-01-01 00:00:00Z", None),
        ("1970-02-30T00:00:00Z", None),
        ("1970-01-01T00:00:00.Z", None),
        ("١٩٧٠-01-01T00:00:00Z", None),
    ],
)
def test_times_are_those_of_rfc_3339_in_utc(text: str, nanoseconds: int | None) -> None:
    assert parse_nanoseconds(text) == nanoseconds
