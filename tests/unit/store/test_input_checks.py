import pytest

from footplate.domain.errors import InvalidArgument
from footplate.domain.filters import And, Comparator, Comparison, Field, Filter, Not
from footplate.store.input_checks import (
    MAX_CHARACTERS,
    MAX_COMPARISONS,
    MAX_DEPTH,
    check_filter,
)


def named(value: str) -> Comparison:
    return Comparison(Field.DISPLAY_NAME, Comparator.MATCHES, value)


def nested(levels: int) -> Filter:
    where: Filter = named("x")
    for _ in range(levels - 1):
        where = Not(where)
    return where


def many(count: int) -> Filter:
    return And(tuple(named(str(index)) for index in range(count)))


@pytest.mark.parametrize(
    "where", [nested(MAX_DEPTH), many(MAX_COMPARISONS), named("x" * (MAX_CHARACTERS - 10))]
)
def test_a_large_filter_passes(where: Filter) -> None:
    check_filter(where)


@pytest.mark.parametrize(
    "where",
    [
        nested(MAX_DEPTH + 1),
        nested(100_000),
        many(MAX_COMPARISONS + 1),
        named("x" * MAX_CHARACTERS * 2),
        named("\0"),
        named("\ud800"),
    ],
    ids=["deep", "very deep", "wide", "long", "NUL", "surrogate"],
)
def test_a_filter_beyond_reason_is_refused(where: Filter) -> None:
    with pytest.raises(InvalidArgument, match="filter: allowed: ") as caught:
        check_filter(where)
    assert len(caught.value.message) < 200
