"""Selects the parts of an answer that the parameter ``fields`` asks for.

``kind,items(name,metadata/owner),nextPageToken``: names with commas between them, ``a/b`` or
``a(b,c)`` for what is inside, ``*`` for all. Items of lists are selected from one by one.
Source: cloud.google.com/storage/docs/json_api#partial-response.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from footplate.domain.errors import InvalidArgument, Violation
from footplate.wire.json_text import JsonObject, describe

if TYPE_CHECKING:
    from pydantic import JsonValue

MAX_LENGTH = 10_000
MAX_DEPTH = 50
_ALL = "*"
_TOKENS = re.compile(r"\s*+(?:([A-Za-z0-9_$@.-]++|\*)|([,/()]))\s*+", re.ASCII)

Selection = dict[str, "Selection"]
"""What is selected of each field, by its name; empty: all of it."""


def select_fields(answer: JsonObject, fields: str) -> JsonObject:
    """Returns the named parts of ``answer``. Raises InvalidArgument: ``fields`` is malformed."""
    selection = parse_fields(fields)
    return {**_members(answer, selection)} if selection else answer


def parse_fields(fields: str, parameter: str = "fields") -> Selection:
    """Parses a selection of fields. Raises InvalidArgument, which names ``parameter``."""
    if not fields.strip():
        return {}
    reader = _Reader(fields, parameter)
    selection = reader.read_list(0)
    if reader.next is not None:
        raise reader.wrong()
    return selection


class _Reader:
    """Reads a selection; ``next`` is the next token, None at the end."""

    def __init__(self, text: str, parameter: str) -> None:
        self._text = text
        self._parameter = parameter
        self._place = 0
        self.next: str | None = None
        if len(text) > MAX_LENGTH:
            raise self.wrong()
        self._advance()

    def read_list(self, depth: int) -> Selection:
        if depth > MAX_DEPTH:
            raise self.wrong()
        found: Selection = {}
        while True:
            _merge(found, self._read_path(depth))
            if self.next != ",":
                return found
            self._advance()

    def wrong(self) -> InvalidArgument:
        said = f"{describe(self._text)} given; allowed: such as items(name,size),nextPageToken"
        return InvalidArgument.of((Violation(self._parameter, f"invalid field selection: {said}"),))

    def _read_path(self, depth: int) -> Selection:
        names = [self._read_name()]
        while self.next == "/":
            self._advance()
            names.append(self._read_name())
        inner: Selection = {}
        if self.next == "(":
            self._advance()
            inner = self.read_list(depth + 1)
            if self.next != ")":
                raise self.wrong()
            self._advance()
        if len(names) > MAX_DEPTH:
            raise self.wrong()
        for name in reversed(names):
            inner = {name: inner}
        return inner

    def _read_name(self) -> str:
        name = self.next
        if name is None or name in ",/()":
            raise self.wrong()
        self._advance()
        return name

    def _advance(self) -> None:
        if self._place == len(self._text):
            self.next = None
            return
        found = _TOKENS.match(self._text, self._place)
        if found is None:
            raise self.wrong()
        self._place = found.end()
        self.next = found[1] or found[2]


def _merge(into: Selection, more: Selection) -> None:
    for name, inner in more.items():
        if name not in into:
            into[name] = inner
        elif into[name] and inner:
            _merge(into[name], inner)
        else:
            into[name] = {}  # one of them asked for all of it


def _members(value: JsonObject, selection: Selection) -> JsonObject:
    found: JsonObject = {}
    for name, part in value.items():
        inner = selection.get(name, selection.get(_ALL))
        if inner is not None:
            selected = _select(part, inner)
            if selected is not None:
                found[name] = selected
    return found


def _select(value: JsonValue, selection: Selection) -> JsonValue:
    """Selects parts of a value; None: the value has no fields to select."""
    if not selection:
        return value
    if isinstance(value, dict):
        return _members(value, selection)
    if isinstance(value, list):
        return [part for each in value if (part := _select(each, selection)) is not None]
    return None
