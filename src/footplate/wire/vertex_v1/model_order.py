"""``orderBy`` of lists of models and of their versions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from footplate.domain.model_registry import Model, ModelVersion
from footplate.wire.list_order import parse_parts

Entry = tuple[Model, ModelVersion]

_FIELDS: Mapping[str, Callable[[Entry], Any]] = MappingProxyType(
    {
        "displayName": lambda entry: entry[1].display_name.casefold(),
        "createTime": lambda entry: (entry[0].create_time, entry[1].create_time),
        "updateTime": lambda entry: entry[1].update_time,
    }
)
"""The time of a model, and among its versions that of each."""


def in_order(entries: Sequence[Entry], text: str) -> list[Entry]:
    """Sorts entries; equal ones keep their order.

    Raises InvalidArgument: the text is not an order.
    """
    found = list(entries)
    for field, descending in reversed(parse_parts(text, _FIELDS)):
        found.sort(key=field, reverse=descending)
    return found
