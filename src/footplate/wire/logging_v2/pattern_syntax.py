"""Parses regular expressions of RE2's syntax, without what needs more than linear time.

pattern = branch {"|" branch}
branch  = {atom ["*" | "+" | "?" | "{" M ["," [N]] "}"] ["?"]}
atom    = character | "." | escape | "[" ... "]" | "^" | "$" | "(" ["?" flags | "?:" ...] ")"
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import NoReturn

MAX_REPEAT = 1000
MAX_DEPTH = 50
_LAST = 0x10FFFF


class BadPattern(ValueError):
    """The pattern is invalid; the message says why, and where."""


@dataclass(frozen=True)
class Characters:
    """A set of characters: those in ``ranges``, or, if ``negated``, all others."""

    ranges: tuple[tuple[int, int], ...]
    negated: bool = False
    any_case: bool = False

    def holds(self, character: str) -> bool:
        spellings = (character, character.lower(), character.upper())
        codes = [ord(each) for each in spellings[: 3 if self.any_case else 1] if len(each) == 1]
        found = any(low <= code <= high for code in codes for low, high in self.ranges)
        return found != self.negated


@dataclass(frozen=True)
class Place:
    """A position in the text.

    ``kind`` is ``^`` or ``$`` for the ends of the text, with ``m`` for those of each line, ``b``
    for the edge of a word, or ``B`` for any other place.
    """

    kind: str


@dataclass(frozen=True)
class Sequence:
    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Branches:
    branches: tuple[Node, ...]


@dataclass(frozen=True)
class Repeat:
    """A repeated part; ``most`` is None for any number."""

    part: Node
    least: int
    most: int | None


Node = Characters | Place | Sequence | Branches | Repeat

_DIGIT = ((48, 57),)
_WORD = ((48, 57), (65, 90), (95, 95), (97, 122))
_SPACE = ((9, 10), (12, 13), (32, 32))
_CLASSES = {"d": _DIGIT, "w": _WORD, "s": _SPACE}
_NAMED = {
    "alnum": ((48, 57), (65, 90), (97, 122)),
    "alpha": ((65, 90), (97, 122)),
    "blank": ((9, 9), (32, 32)),
    "digit": _DIGIT,
    "lower": ((97, 122),),
    "punct": ((33, 47), (58, 64), (91, 96), (123, 126)),
    "space": ((9, 13), (32, 32)),
    "upper": ((65, 90),),
    "word": _WORD,
    "xdigit": ((48, 57), (65, 70), (97, 102)),
}
_CONTROLS = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_PLACES = {"A": "^", "z": "$", "b": "b", "B": "B"}
_HEX = re.compile(r"x(?:\{([0-9A-Fa-f]{1,6})\}|([0-9A-Fa-f]{2}))")
_COUNT = re.compile(r"\{([0-9]{1,4})(?:(,)([0-9]{1,4})?)?\}")
_FLAGS = re.compile(r"\?([imsU]{0,4})(?:-([imsU]{1,4}))?([:)])")
_NAME = re.compile(r"\?P?<[A-Za-z_][A-Za-z0-9_]{0,63}>")
_CLASS_NAME = re.compile(r"\[:(\^?)([a-z]{1,10}):\]")
_NEWLINE = ((10, 10),)
_ANYTHING = ((0, _LAST),)


@dataclass(frozen=True)
class _Flags:
    any_case: bool = False
    lines: bool = False
    dot_is_all: bool = False

    def changed(self, names: str, *, on: bool) -> _Flags:
        fields = {"i": "any_case", "m": "lines", "s": "dot_is_all"}
        return replace(self, **{fields[name]: on for name in names if name in fields})


def parse_pattern(text: str) -> Node:
    """Parses a pattern. Raises BadPattern."""
    return _Parser(text).parse()


class _Parser:
    """A recursive-descent parser with limited depth."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0
        self._flags = _Flags()

    def parse(self) -> Node:
        found = self._branches()
        if self._at < len(self._text):
            self._refuse("a ) that nothing opens")
        return found

    def _refuse(self, problem: str) -> NoReturn:
        raise BadPattern(f"{problem}, at character {self._at + 1} of the pattern")

    def _skip(self, text: str) -> bool:
        if not self._text.startswith(text, self._at):
            return False
        self._at += len(text)
        return True

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self._text, self._at)
        if found is not None:
            self._at = found.end()
        return found

    def _branches(self) -> Node:
        branches = [self._sequence()]
        while self._skip("|"):
            branches.append(self._sequence())
        return branches[0] if len(branches) == 1 else Branches(tuple(branches))

    def _sequence(self) -> Node:
        parts: list[Node] = []
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            parts.append(self._repeated())
        return Sequence(tuple(parts))

    def _repeated(self) -> Node:
        found = self._atom()
        for _ in range(2):
            before = self._at
            count = self._count()
            if count is None:
                return found
            self._skip("?")  # as few as there can be: the same texts match
            if isinstance(found, Repeat):
                self._at = before
                self._refuse("a repetition of a repetition; put the first into (?:...)")
            found = Repeat(found, *count)
        return found

    def _count(self) -> tuple[int, int | None] | None:
        for sign, count in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self._skip(sign):
                return count
        match = self._match(_COUNT)
        if match is None:
            return None
        least = int(match[1])
        most = least if match[2] is None else None if match[3] is None else int(match[3])
        if max(least, most or 0) > MAX_REPEAT or (most is not None and most < least):
            self._at = match.start()
            self._refuse(f"{match[0]} given; allowed: up to {MAX_REPEAT}, the smaller first")
        return least, most

    def _atom(self) -> Node:
        if self._skip("("):
            return self._group()
        if self._skip("["):
            return self._set()
        if self._skip("\\"):
            return self._escape()
        if self._skip("."):
            return Characters(() if self._flags.dot_is_all else _NEWLINE, negated=True)
        for sign in "^$":
            if self._skip(sign):
                return Place(f"{sign}m" if self._flags.lines else sign)
        character = self._text[self._at]
        if character in "*+?":
            self._refuse(f"nothing that {character} can repeat stands before {character}")
        self._at += 1
        return self._one(ord(character))

    def _one(self, code: int) -> Characters:
        return Characters(((code, code),), any_case=self._flags.any_case)

    def _group(self) -> Node:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._refuse(f"groups deeper than {MAX_DEPTH}")
        before = self._flags
        if flags := self._match(_FLAGS):
            self._flags = before.changed(flags[1], on=True).changed(flags[2] or "", on=False)
            if flags[3] == ")":  # for what follows
                self._depth -= 1
                return Sequence(())
        elif not self._match(_NAME) and self._text.startswith("?", self._at):
            self._refuse("no such group; allowed: (...) (?:...) (?i:...) (?i) (?P<name>...)")
        found = self._branches()
        if not self._skip(")"):
            self._refuse("a ) is missing")
        self._flags = before
        self._depth -= 1
        return found

    def _escape(self) -> Node:
        if self._at == len(self._text):
            self._refuse("the pattern ends with a single \\")
        letter = self._text[self._at]
        if letter in _PLACES:
            self._at += 1
            return Place(_PLACES[letter])
        if letter.lower() in _CLASSES:
            self._at += 1
            return Characters(_CLASSES[letter.lower()], negated=letter.isupper())
        return self._one(self._escaped_code())

    def _escaped_code(self) -> int:
        r"""Reads the code of a character that is escaped by ``\``."""
        if match := self._match(_HEX):
            code = int(match[1] or match[2], 16)
            if code > _LAST:
                self._refuse("no character has this code")
            return code
        letter = self._text[self._at : self._at + 1]
        if not letter or (letter.isascii() and letter.isalnum() and letter not in _CONTROLS):
            self._refuse(f"\\{letter} isn't supported")
        self._at += 1
        return _CONTROLS.get(letter, ord(letter))

    def _set(self) -> Characters:
        negated = self._skip("^")
        ranges: list[tuple[int, int]] = []
        first = True
        while first or not self._skip("]"):
            if self._at >= len(self._text):
                self._refuse("a ] is missing")
            ranges += self._set_item()
            first = False
        return Characters(tuple(ranges), negated, self._flags.any_case)

    def _set_item(self) -> tuple[tuple[int, int], ...]:
        if match := self._match(_CLASS_NAME):
            if match[2] not in _NAMED:
                self._refuse(f"[:{match[2]}:] is not a class of characters")
            return _inverted(_NAMED[match[2]]) if match[1] else _NAMED[match[2]]
        low = self._set_character()
        if isinstance(low, tuple):
            return low
        if self._text.startswith("-", self._at) and not self._text.startswith("-]", self._at):
            self._at += 1
            high = self._set_character()
            if isinstance(high, tuple) or high < low:
                self._refuse("the end of a range comes before its start")
            return ((low, high),)
        return ((low, low),)

    def _set_character(self) -> int | tuple[tuple[int, int], ...]:
        if self._skip("\\"):
            letter = self._text[self._at : self._at + 1]
            if letter and letter.lower() in _CLASSES:
                self._at += 1
                ranges = _CLASSES[letter.lower()]
                return _inverted(ranges) if letter.isupper() else ranges
            return self._escaped_code()
        if self._at >= len(self._text):
            self._refuse("a ] is missing")
        self._at += 1
        return ord(self._text[self._at - 1])


def _inverted(ranges: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """Returns the ranges between the given ones, which ascend."""
    ends = [(low - 1, high + 1) for low, high in ranges]
    lows = [0, *(after for _, after in ends)]
    highs = [*(before for before, _ in ends), _LAST]
    return tuple((low, high) for low, high in zip(lows, highs, strict=True) if low <= high)
