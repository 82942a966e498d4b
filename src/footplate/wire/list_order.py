"""``orderBy`` of lists: ``displayName, createTime desc``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.job_order import OrderedBy
from footplate.wire.json_text import describe

if TYPE_CHECKING:
    from collections.abc import Mapping

    from footplate.domain.filters import Field
    from footplate.domain.job_order import JobOrder

_DIRECTIONS = {(): False, ("asc",): False, ("desc",): True}


def parse_order(text: str, fields: Mapping[str, Field]) -> JobOrder:
    """The order that ``text`` spells, by the names that filters have; empty: the newest first.

    Raises:
        InvalidArgument: naming the part that is wrong, and what is allowed.
    """
    if not text.strip():
        return ()
    found: dict[Field, OrderedBy] = {}
    for part in text.split(","):
        name, *words = part.split() or [""]
        direction = _DIRECTIONS.get(tuple(word.lower() for word in words))
        if name not in fields or direction is None:
            known = ", ".join(each for each in fields if "_" not in each)
            said = f"{describe(part.strip())} given; allowed: FIELD, or FIELD desc, of {known}"
            raise InvalidArgument.of((Violation("orderBy", said),))
        field = fields[name]
        found.setdefault(field, OrderedBy(field, descending=direction))
    return tuple(found.values())
