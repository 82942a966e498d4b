"""Filters of MetadataService and TensorboardService: those that the clients send."""

from __future__ import annotations

from collections.abc import Mapping

from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.filters import EXACT, ORDERED, TEXT, Comparator
from footplate.domain.tracking import names
from footplate.domain.tracking.filters import (
    CREATE_TIME,
    UPDATE_TIME,
    Equals,
    Filter,
    LinkedTo,
)
from footplate.wire.filters.parser import FUNCTION, Dialect, Restriction, parse_expression
from footplate.wire.json_text import describe

_TIMES = {"create_time": CREATE_TIME, "update_time": UPDATE_TIME}
_NODE = {"display_name": "displayName", "schema_title": "schemaTitle"}
_FIELDS: Mapping[str, Mapping[str, str]] = {
    names.CONTEXTS: _NODE,
    names.ARTIFACTS: {**_NODE, "uri": "uri", "state": "state"},
    names.EXECUTIONS: {**_NODE, "state": "state"},
    names.STORES: {},
    names.DATASETS: {"display_name": "displayName", "metadata_schema_uri": "metadataSchemaUri"},
    names.TENSORBOARDS: {"display_name": "displayName", "is_default": "isDefault"},
    names.EXPERIMENTS: {"display_name": "displayName", "source": "source"},
    names.RUNS: {"display_name": "displayName"},
    names.TIME_SERIES: {
        "display_name": "displayName",
        "plugin_name": "pluginName",
        "value_type": "valueType",
    },
}
"""Texts that resources of a collection are found by; each has a spelling of JSON, too."""
_LINKS = {"parent_contexts": False, "child_contexts": True}
_VALUES = ("string_value", "number_value", "bool_value")


def parse_tracking_filter(text: str | None, collection: str) -> Filter | None:
    """Returns None, and raises, as ``parse_expression``."""
    return parse_expression(text, _Reader(collection).read, Dialect(functions=True))


def read_order(text: str | None) -> bool:
    """Returns whether the oldest resources come first. Raises InvalidArgument."""
    words = (text or "create_time desc").split()
    if words[0] in ("create_time", "createTime") and words[1:] in ([], ["asc"], ["desc"]):
        return words[1:] != ["desc"]
    said = f"{describe(text)} given; allowed: create_time, create_time desc"
    raise InvalidArgument.of((Violation("orderBy", said),))


class _Reader:
    """Converts restrictions to conditions on the resources of a collection."""

    def __init__(self, collection: str) -> None:
        self._nodes = "schema_title" in _FIELDS[collection]
        self._contexts = collection == names.CONTEXTS
        snake = _FIELDS[collection]
        self._fields = {**snake, **{camel: camel for camel in snake.values()}}
        self._known = ", ".join(
            (
                *sorted(snake),
                *_TIMES,
                "labels.KEY",
                *([f"metadata.KEY.{value}" for value in _VALUES] if self._nodes else ()),
                *([f'{field}:"NAME"' for field in _LINKS] if self._contexts else ()),
                *(['in_context("NAME")'] if self._nodes and not self._contexts else ()),
            )
        )

    def read(self, given: Restriction) -> Filter:
        name, value = given.field, given.value.text
        if given.operator == FUNCTION:
            if name != "in_context" or not self._nodes or self._contexts:
                given.refuse_name(f"unknown function; allowed: {self._known};")
            return LinkedTo(value)
        if name in _LINKS and self._contexts:
            given.require((Comparator.MATCHES, Comparator.EQUAL))
            return LinkedTo(value, downwards=_LINKS[name])
        if time := _TIMES.get(name) or (name if name in _TIMES.values() else None):
            given.require(ORDERED)
            return Equals((time,), given.comparator, given.time())
        head, *path = name.split(".")
        if head == "labels":
            return _label(given, ".".join(path))
        if head == "metadata" and self._nodes and len(path) > 1 and path[-1] in _VALUES:
            return _metadata(given, path[:-1], path[-1])
        if name not in self._fields:
            given.refuse_name(f"unknown field; allowed: {self._known};")
        if self._fields[name] == "isDefault":
            return _flag(given, ("isDefault",))
        given.require(TEXT)
        return Equals((self._fields[name],), given.comparator, value)


def _label(given: Restriction, key: str) -> Filter:
    """Reads ``labels.KEY="VALUE"``; ``labels.KEY:*`` and ``labels:KEY`` ask for any value."""
    value, part = given.value.text, given.comparator is Comparator.MATCHES
    if not key:
        given.require((Comparator.MATCHES,))
        return Equals(("labels", value), given.comparator, "")
    given.require(TEXT)
    return Equals(("labels", key), given.comparator, "" if part and value == "*" else value)


def _metadata(given: Restriction, path: list[str], kind: str) -> Filter:
    where = ("metadata", *path)
    if kind == "bool_value":
        return _flag(given, where)
    if kind == "string_value":
        given.require(TEXT)
        return Equals(where, given.comparator, given.value.text)
    given.require(ORDERED)
    try:
        return Equals(where, given.comparator, float(given.value.text))
    except ValueError:
        given.refuse_value(f"{describe(given.value.text)} given; allowed: a number;")


def _flag(given: Restriction, path: tuple[str, ...]) -> Filter:
    given.require(EXACT)
    text = given.value.text.casefold()
    if text not in ("true", "false"):
        given.refuse_value(f"{describe(given.value.text)} given; allowed: true, false;")
    return Equals(path, given.comparator, value=text == "true")
