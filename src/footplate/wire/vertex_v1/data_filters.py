"""Filters of data items by their labels, as a filter split has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from footplate.domain.data_splits import NOTHING, SETS, DataSet
from footplate.domain.errors import InvalidArgument
from footplate.domain.filters import TEXT, Comparator, compare, evaluator
from footplate.wire.filters.parser import Restriction, parse_expression

_FIELD = "labels."
Labels = Mapping[str, str]


@dataclass(frozen=True)
class _Label:
    key: str
    comparator: Comparator
    value: str


def check_data_filter(text: str) -> str:
    """Returns why a text is no filter of data items; empty: it is one."""
    try:
        _parse(text)
    except InvalidArgument as error:
        return error.violations[0].description if error.violations else error.message
    return ""


def read_data_filters(filters: Sequence[str]) -> Callable[[Labels], DataSet | None]:
    """Returns a function that assigns a data item to the first set whose filter matches.

    Raises InvalidArgument: a text is no filter.
    """
    tests = [(each, _parse(text)) for each, text in zip(SETS, filters, strict=True)]

    def select(labels: Labels) -> DataSet | None:
        return next((each for each, matches in tests if matches(labels)), None)

    return select


def _parse(text: str) -> Callable[[Labels], bool]:
    """Returns a function that applies a filter. An empty one matches each data item."""
    if text.strip() == NOTHING:
        return lambda _: False
    where = parse_expression(text, _read)

    def matches(labels: Labels) -> bool:
        def holds(asked: _Label) -> bool:
            return compare(labels.get(asked.key), asked.comparator, asked.value)

        return where is None or evaluator(holds)(where)

    return matches


def _read(given: Restriction) -> _Label:
    key = given.field.removeprefix(_FIELD)
    if key in ("", given.field):
        given.refuse_name("unknown field; allowed: labels.KEY;")
    given.require(TEXT)
    return _Label(key, given.comparator, given.value.text)
