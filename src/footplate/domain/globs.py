"""Matches names of objects against glob patterns, as Cloud Storage's ``matchGlob`` does. Pure.

``*`` and ``?`` stop at a slash, ``**`` doesn't, and ``**/`` is any number of folders, none
included; ``[a-z]``, ``[!a-z]`` and ``{a,b}`` are as in a shell, and ``\\`` escapes.
Source: cloud.google.com/storage/docs/json_api/v1/objects/list#list-objects-and-prefixes-using-glob.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

MAX_LENGTH = 1024
MAX_ALTERNATIVES = 100
_SPECIAL = frozenset("*?[{\\")


class Glob:
    """A pattern for names of objects. Raises ValueError, with what is allowed, if ``text``
    isn't one.

    All positions in the pattern that a name may have reached are bits of one number, which each
    character advances. So the time is that of one pass, however many stars there are.
    """

    def __init__(self, text: str) -> None:
        if len(text) > MAX_LENGTH:
            raise ValueError(f"at most {MAX_LENGTH} characters")
        self._patterns = [_Pattern(list(_read(each))) for each in _expand(text)]
        self.prefix = text[: next((i for i, c in enumerate(text) if c in _SPECIAL), len(text))]
        """What each name that matches begins with."""

    @classmethod
    def of_wildcards(cls, text: str) -> Glob:
        """Returns the pattern of a text in which only ``*``, ``**`` and ``?`` are special."""
        return cls(re.sub(r"[\\[{]", r"\\\g<0>", text))

    def matches(self, name: str) -> bool:
        return any(pattern.matches(name) for pattern in self._patterns)


def _nothing(_: str) -> bool:
    return False


@dataclass(frozen=True)
class _Item:
    """A part of a pattern. ``accepts`` tells which characters advance a name past the item.

    If it ``stays``, other characters keep the name at the item, slashes only if it ``crosses``. A
    name may skip the item if it is ``optional``, and the next item too if it ``jumps``.
    """

    accepts: Callable[[str], bool]
    stays: bool = False
    crosses: bool = False
    optional: bool = False
    jumps: bool = False


_SEGMENT = _Item(_nothing, stays=True, optional=True)
_ANYTHING = _Item(_nothing, stays=True, crosses=True, optional=True)
_FOLDERS = (
    _Item(_nothing, optional=True, jumps=True),
    _Item(lambda c: c == "/", stays=True, crosses=True),
)
_ONE = _Item(lambda c: c != "/")


class _Pattern:
    def __init__(self, items: list[_Item]) -> None:
        self._items = items
        self._end = 1 << len(items)
        self._optional = _bits(items, lambda item: item.optional)
        self._jumping = _bits(items, lambda item: item.jumps)
        self._staying = _bits(items, lambda item: item.stays)
        self._crossing = _bits(items, lambda item: item.crosses)
        self._accepting: dict[str, int] = {}

    def matches(self, name: str) -> bool:
        places = self._skip(1)
        for character in name:
            if (accepting := self._accepting.get(character)) is None:
                accepting = self._accept(character)
            staying = self._crossing if character == "/" else self._staying
            places = self._skip((places & accepting) << 1 | places & staying)
            if not places:
                return False
        return bool(places & self._end)

    def _accept(self, character: str) -> int:
        found = _bits(self._items, lambda item: item.accepts(character))
        self._accepting[character] = found
        return found

    def _skip(self, places: int) -> int:
        passed = -1
        while places != passed:
            passed = places
            places |= (places & self._optional) << 1 | (places & self._jumping) << 2
        return places


def _bits(items: list[_Item], wanted: Callable[[_Item], bool]) -> int:
    return sum(1 << i for i, item in enumerate(items) if wanted(item))


def _expand(text: str) -> list[str]:
    """Returns the patterns without braces that a pattern with braces stands for."""
    begin = _find(text, "{")
    if begin is None:
        return [text]
    depth, commas = 0, []
    for place in _unescaped(text, begin):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 1 and text[place] == ",":
            commas.append(place)
        if depth == 0:
            break
    else:
        raise ValueError("a '}' for each '{'")
    bounds = [begin, *commas, place]
    found: list[str] = []
    for start, end in pairwise(bounds):
        found += _expand(text[:begin] + text[start + 1 : end] + text[place + 1 :])
        if len(found) > MAX_ALTERNATIVES:
            raise ValueError(
                f"a pattern with at most {MAX_ALTERNATIVES} alternatives in its braces"
            )
    return found


def _find(text: str, wanted: str) -> int | None:
    return next((place for place in _unescaped(text, 0) if text[place] == wanted), None)


def _unescaped(text: str, place: int) -> Iterator[int]:
    while place < len(text):
        if text[place] != "\\":
            yield place
        place += 2 if text[place] == "\\" else 1


def _read(text: str) -> Iterator[_Item]:
    place = 0
    while place < len(text):
        character = text[place]
        if character == "*":
            stars = len(text) - place - len(text[place:].lstrip("*"))
            begins = place == 0 or text[place - 1] == "/"
            place += stars
            if stars > 1 and begins and text[place : place + 1] == "/":
                yield from _FOLDERS
                place += 1
            else:
                yield _ANYTHING if stars > 1 else _SEGMENT
        elif character == "[":
            item, place = _read_class(text, place)
            yield item
        elif character == "?":
            yield _ONE
            place += 1
        else:
            place += character == "\\" and place + 1 < len(text)
            yield _literal(text[place])
            place += 1


def _literal(character: str) -> _Item:
    return _Item(lambda c: c == character)


def _read_class(text: str, begin: int) -> tuple[_Item, int]:
    """Returns the item for characters in brackets, and the position after the brackets."""
    place = begin + 1
    negated = text[place : place + 1] in ("!", "^")
    place += negated
    end = text.find("]", place + 1)
    if end < 0:
        raise ValueError("a ']' for each '['")
    singles, spans = set(), []
    while place < end:
        if text[place + 1 : place + 2] == "-" and place + 2 < end:
            spans.append((text[place], text[place + 2]))
            place += 3
        else:
            singles.add(text[place])
            place += 1

    def accepts(c: str) -> bool:
        inside = c in singles or any(first <= c <= last for first, last in spans)
        return c != "/" and inside != negated

    return _Item(accepts), end + 1
