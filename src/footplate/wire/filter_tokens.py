"""Splits a filter into tokens with positions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import NoReturn

from footplate.domain.errors import InvalidArgument, Violation

MAX_LENGTH = 32_768
_SHOWN = 40


class Kind(Enum):
    OPEN = "("
    CLOSE = ")"
    COMPARATOR = "a comparator"
    WORD = "a word"
    QUOTED = "a quoted text"
    END = "the end"


@dataclass(frozen=True)
class Token:
    """``at`` counts characters from 1; ``text`` of a quoted one is without its quotes."""

    kind: Kind
    text: str
    at: int


class Dialect(Enum):
    """Grammars that differ in their comparators, and in what a value may be."""

    LISTS = "filters of lists"
    LOGGING = "queries of Cloud Logging"


_SPACE = re.compile(r"\s*")
_COMPARATORS = {
    Dialect.LISTS: re.compile(r"!=|<=|>=|[=<>:]"),
    Dialect.LOGGING: re.compile(r"=~|!~|!=|<=|>=|[=<>:]"),
}
_NAME = re.compile(r"(?:[^\s()\"'<>=!:]|(?<=\.)\"[^\"\\]*\")+")
"""Parts of it after a dot may be quoted."""
_VALUE = re.compile(r"[^\s()\"']+")
_QUOTED = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_LOGGING_ESCAPED = re.compile(r"\\([\\\"'nrt])")
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t"}


def refuse_at(text: str, at: int, problem: str) -> NoReturn:
    """Raises InvalidArgument that names the place."""
    near = text[at - 1 : at - 1 + _SHOWN]
    where = f"at character {at}, near {near!r}" if near else f"at character {at}, the end"
    violation = Violation("filter", f"{problem} {where}")
    raise InvalidArgument.of((violation,))


def tokenize(text: str, dialect: Dialect = Dialect.LISTS) -> tuple[Token, ...]:
    """Returns the tokens, END last. A word after a comparator may hold colons: it is a value.

    Raises:
        InvalidArgument: a quote isn't closed, a character fits nowhere, or it is too long.
    """
    if len(text) > MAX_LENGTH:
        refuse_at(text, MAX_LENGTH, f"longer than {MAX_LENGTH} characters")
    tokens: list[Token] = []
    position = _skip(text, 0)
    while position < len(text):
        after_comparator = bool(tokens) and tokens[-1].kind is Kind.COMPARATOR
        token, position = _next(text, position, dialect, after_comparator=after_comparator)
        tokens.append(token)
        position = _skip(text, position)
    return (*tokens, Token(Kind.END, "", len(text) + 1))


def _skip(text: str, position: int) -> int:
    space = _SPACE.match(text, position)
    return space.end() if space else position


def _next(
    text: str, position: int, dialect: Dialect, *, after_comparator: bool
) -> tuple[Token, int]:
    at = position + 1
    comparator = _COMPARATORS[dialect].match
    if text[position] in "()":
        return Token(Kind(text[position]), text[position], at), position + 1
    if match := _QUOTED.match(text, position):
        content = match.group(1) if match.group(1) is not None else match.group(2)
        return Token(Kind.QUOTED, _unescape(content, dialect), at), match.end()
    if after_comparator and (match := _VALUE.match(text, position)):
        return Token(Kind.WORD, match.group(), at), match.end()
    if match := comparator(text, position):
        return Token(Kind.COMPARATOR, match.group(), at), match.end()
    if match := _NAME.match(text, position):
        return Token(Kind.WORD, match.group().replace('"', ""), at), match.end()
    problem = "a quote that isn't closed" if text[position] in "\"'" else "an unexpected character"
    refuse_at(text, at, problem)


def _unescape(content: str, dialect: Dialect) -> str:
    """Removes escapes; in queries of Cloud Logging unknown ones stay, as patterns may need them."""
    if dialect is Dialect.LOGGING:
        return _LOGGING_ESCAPED.sub(lambda found: _CONTROLS.get(found[1], found[1]), content)
    return _ESCAPED.sub(r"\1", content)
