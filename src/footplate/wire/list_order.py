"""``orderBy`` of lists: ``displayName, createTime desc``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.filters import Field
from footplate.domain.job_order import JobOrder, OrderedBy
from footplate.wire.json_text import describe

T = TypeVar("T")

_DIRECTIONS = {(): False, ("asc",): False, ("desc",): True}


def parse_order(text: str, fields: Mapping[str, Field]) -> JobOrder:
    """Parses an order, with the field names of filters; an empty text means newest first.

    Raises InvalidArgument, as ``parse_parts`` does.
    """
    found: dict[Field, OrderedBy] = {}
    for field, descending in parse_parts(text, fields):
        found.setdefault(field, OrderedBy(field, descending))
    return tuple(found.values())


def in_order(items: Iterable[T], text: str, fields: Mapping[str, Callable[[T], Any]]) -> list[T]:
    """Sorts items; equal ones keep their order.

    Raises InvalidArgument: the text is not an order by these fields.
    """
    found = list(items)
    for field, descending in reversed(parse_parts(text, fields)):
        found.sort(key=field, reverse=descending)
    return found


def parse_parts(text: str, fields: Mapping[str, T]) -> list[tuple[T, bool]]:
    """Returns, most important first, what each named field stands for, and whether it descends.

    Names may also be in snake_case.

    Raises:
        InvalidArgument: names the part that is wrong, and what is allowed.
    """
    snake = {re.sub("([A-Z])", r"_\1", name).lower(): name for name in fields}
    found: list[tuple[T, bool]] = []
    for part in text.split(",") if text.strip() else ():
        name, *words = part.split() or [""]
        name = snake.get(name, name)
        descending = _DIRECTIONS.get(tuple(word.lower() for word in words))
        if name not in fields or descending is None:
            known = ", ".join(each for each in fields if "_" not in each)
            said = f"{describe(part.strip())} given; allowed: FIELD, or FIELD desc, of {known}"
            raise InvalidArgument.of((Violation("orderBy", said),))
        found.append((fields[name], descending))
    return found
