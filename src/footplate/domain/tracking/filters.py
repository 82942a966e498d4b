"""Filters over resources of metadata stores and TensorBoards."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, assert_never

from footplate.domain.filters import Comparator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from footplate.domain.tracking.resources import Resource

CREATE_TIME, UPDATE_TIME = "createTime", "updateTime"
Value = str | float | bool | datetime


@dataclass(frozen=True)
class Equals:
    """A field, or what stands in it by these keys, and how it is compared."""

    path: tuple[str, ...]
    comparator: Comparator
    value: Value


@dataclass(frozen=True)
class LinkedTo:
    """A test for a link to the resource from ``name``; ``downwards``: from it to ``name``."""

    name: str
    downwards: bool = False


@dataclass(frozen=True)
class AllOf:
    parts: tuple[Filter, ...]


@dataclass(frozen=True)
class AnyOf:
    parts: tuple[Filter, ...]


@dataclass(frozen=True)
class NoneOf:
    part: Filter


Filter = Equals | LinkedTo | AllOf | AnyOf | NoneOf
Linked = Mapping[LinkedTo, frozenset[str]]
"""The names of all resources of which each such part is true."""

_ORDER: Mapping[Comparator, Callable[[Any, Any], bool]] = {
    Comparator.EQUAL: operator.eq,
    Comparator.LESS: operator.lt,
    Comparator.LESS_OR_EQUAL: operator.le,
    Comparator.GREATER: operator.gt,
    Comparator.GREATER_OR_EQUAL: operator.ge,
}
"""Any: what is compared is of one type, see ``_same_type``."""


def links_in(where: Filter | None) -> Iterator[LinkedTo]:
    """The links that a filter asks for."""
    match where:
        case LinkedTo():
            yield where
        case AllOf() | AnyOf():
            for part in where.parts:
                yield from links_in(part)
        case NoneOf():
            yield from links_in(where.part)


def required_links(where: Filter | None) -> Iterator[LinkedTo]:
    """Yields the links that every match must have."""
    if isinstance(where, LinkedTo):
        yield where
    elif isinstance(where, AllOf):
        for part in where.parts:
            yield from required_links(part)


def matches(where: Filter, resource: Resource, linked: Linked) -> bool:
    match where:
        case AllOf():
            return all(matches(part, resource, linked) for part in where.parts)
        case AnyOf():
            return any(matches(part, resource, linked) for part in where.parts)
        case NoneOf():
            return not matches(where.part, resource, linked)
        case LinkedTo():
            return str(resource.name) in linked[where]
        case Equals():
            return _compare(where, resource)
        case _:
            assert_never(where)


def _compare(where: Equals, resource: Resource) -> bool:
    """Compares a field; False if it is missing or of another type, but != is true then."""
    found, value, comparator = _find(where.path, resource), where.value, where.comparator
    if comparator is Comparator.NOT_EQUAL:
        return not _same_type(found, value) or found != value
    if not _same_type(found, value):
        return False
    if comparator is Comparator.MATCHES:
        return str(value).casefold() in str(found).casefold()
    return _ORDER[comparator](found, value)


def _find(path: tuple[str, ...], resource: Resource) -> object:
    if path == ("name",):
        return str(resource.name)
    if path == (CREATE_TIME,):
        return resource.create_time
    if path == (UPDATE_TIME,):
        return resource.update_time
    found: object = resource.fields
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return False if found is None and path == ("isDefault",) else found


def _same_type(found: object, value: Value) -> bool:
    if isinstance(value, bool) or isinstance(found, bool):
        return isinstance(value, bool) and isinstance(found, bool)
    if isinstance(value, float):
        return isinstance(found, int | float)
    return isinstance(found, type(value))
