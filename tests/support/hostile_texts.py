"""Texts that make a regular expression slow, from its own parts."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from tests.support.matching_steps import (
    REPEATS,
    SINGLE,
    Node,
    StepCounter,
    TooManyStepsError,
    accepts,
    parse,
)

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Sequence

    Codes = tuple[int, ...]

_CHARACTERS = (*range(10), 10, 13, 27, *range(32, 127), 0x80, 0x9B, 0xE9)
_WIDE = (0x2502, 0x202E, 0x10000)
_SIZES = (24, 48)
_CHEAP = 3
"""So many steps a character are linear at such sizes."""
_TOO_MUCH = 3.0
"""Of the steps of a text twice as long: 2 is linear, 4 is quadratic."""
_STEPS = 60_000
_FRAMES = 20_000
_LASTS = 8
_REPEATED = 6


def find_hostile_text(pattern: re.Pattern[Any], method: str) -> tuple[Codes, Codes, Codes] | None:
    """What comes first, what is repeated and what is last in a text that takes more than linear
    time; None: there is none among those tried.
    """
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _FRAMES))
    try:
        return _find(pattern, method)
    finally:
        sys.setrecursionlimit(limit)  # other tests want parsers to reach it


def _find(pattern: re.Pattern[Any], method: str) -> tuple[Codes, Codes, Codes] | None:
    counter = StepCounter(pattern, _STEPS)
    short, long = _SIZES
    for first, repeated, last in _texts(pattern, method):
        try:
            steps = counter.count((*first, *repeated * long, *last), method)
            if steps <= _CHEAP * long * len(repeated):
                continue
            before = counter.count((*first, *repeated * short, *last), method)
        except TooManyStepsError:
            return first, repeated, last
        if steps > _TOO_MUCH * before:
            return first, repeated, last
    return None


def _texts(pattern: re.Pattern[Any], method: str) -> Iterator[tuple[Codes, Codes, Codes]]:
    nodes, flags = parse(pattern), pattern.flags
    representatives = _representatives(nodes, flags, wide=isinstance(pattern.pattern, str))
    found = set(_repeats(nodes, (), flags, representatives))
    for before, body in found:
        lasts: set[Codes] = {()}
        lasts |= {(code,) for code in representatives[:_LASTS]}
        for last in lasts:
            yield before, body, last
            if method == "search" and before:
                yield (), before + body, last
    if method == "search":
        for code in representatives:
            yield (), (code,), ()


def _repeats(
    nodes: Sequence[Node], before: Codes, flags: int, codes: Sequence[int]
) -> Iterator[tuple[Codes, Codes]]:
    """Of each repeat without an end what comes before it, and what it repeats."""
    for name, value in nodes:
        if name in REPEATS:
            _, high, body = value
            if high is None:
                found = [each for each in _samples(body, flags, codes) if each]
                yield from ((before, each) for each in found[-_REPEATED:])
            yield from _repeats(body, before, flags, codes)
        elif name == "BRANCH":
            for branch in value:
                yield from _repeats(branch, before, flags, codes)
        elif name in ("SUBPATTERN", "ASSERT", "ASSERT_NOT"):
            yield from _repeats(value[1], before, flags, codes)
        elif name == "ATOMIC_GROUP":
            yield from _repeats(value, before, flags, codes)
        before += next(iter(_samples([(name, value)], flags, codes)), ())


def _samples(nodes: Sequence[Node], flags: int, codes: Sequence[int]) -> list[Codes]:
    """Short texts that the nodes match, one for each alternative of the last node that has some."""
    found: list[Codes] = [()]
    for node in nodes:
        options = _options(node, flags, codes)
        if not options:
            return []
        if len(found) == 1:
            found = [found[0] + each for each in options]
        else:
            found = [each + options[0] for each in found]
    return found


def _options(node: Node, flags: int, codes: Sequence[int]) -> list[Codes]:
    name, value = node
    if name in SINGLE:
        return [(code,) for code in codes if accepts(node, code, flags)]
    if name in REPEATS:
        inner = _samples(value[2], flags, codes)
        low = value[0]
        return [each * low for each in inner] if low else [(), *inner]
    if name == "BRANCH":
        return [each for branch in value for each in _samples(branch, flags, codes)]
    if name == "SUBPATTERN":
        return _samples(value[1], flags, codes)
    if name == "ATOMIC_GROUP":
        return _samples(value, flags, codes)
    return [()]


def _representatives(nodes: Sequence[Node], flags: int, *, wide: bool) -> list[int]:
    """One character of each set that the pattern tells apart; those that it matches least first."""
    singles = list(_singles(nodes))
    known: dict[tuple[bool, ...], int] = {}
    literals = {value for name, value in singles if name == "LITERAL"}
    for code in (*literals, *_CHARACTERS, *(_WIDE if wide else ())):
        known.setdefault(tuple(accepts(node, code, flags) for node in singles), code)
    return [known[signature] for signature in sorted(known, key=sum)]


def _singles(nodes: Sequence[Node]) -> Iterator[Node]:
    for name, value in nodes:
        if name in SINGLE:
            yield name, value
        elif name in REPEATS:
            yield from _singles(value[2])
        elif name == "BRANCH":
            for branch in value:
                yield from _singles(branch)
        elif name in ("SUBPATTERN", "ASSERT", "ASSERT_NOT"):
            yield from _singles(value[1])
        elif name == "ATOMIC_GROUP":
            yield from _singles(value)
