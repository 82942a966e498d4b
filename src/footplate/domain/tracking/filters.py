"""Filters over resources of metadata stores and TensorBoards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from footplate.domain.filters import And, Comparator, Expression, compare, evaluator
from footplate.domain.tracking.resources import Resource

CREATE_TIME, UPDATE_TIME = "createTime", "updateTime"


@dataclass(frozen=True)
class Equals:
    """A comparison of a field, or of a value inside the field at the keys in ``path``."""

    path: tuple[str, ...]
    comparator: Comparator
    value: str | float | bool | datetime


@dataclass(frozen=True)
class LinkedTo:
    """A test for a link to the resource from ``name``; with ``downwards``, the other way."""

    name: str
    downwards: bool = False


Filter: TypeAlias = Expression[Equals | LinkedTo]
Linked = Mapping[LinkedTo, frozenset[str]]
"""The names of all resources of which each such part is true."""


def required_links(where: Filter | None) -> Iterator[LinkedTo]:
    """Yields the links that every resource which matches has."""
    if isinstance(where, LinkedTo):
        yield where
    elif isinstance(where, And):
        for part in where.parts:
            yield from required_links(part)


def matches(where: Filter, resource: Resource, linked: Linked) -> bool:
    """Returns whether the resource matches; a field that it lacks equals nothing."""

    def holds(asked: Equals | LinkedTo) -> bool:
        if isinstance(asked, LinkedTo):
            return str(resource.name) in linked[asked]
        found = _find(asked.path, resource)
        if asked.comparator is Comparator.MATCHES:  # no wildcards, unlike in lists of jobs
            return isinstance(found, str) and str(asked.value).casefold() in found.casefold()
        return compare(found, asked.comparator, asked.value)

    return evaluator(holds)(where)


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
