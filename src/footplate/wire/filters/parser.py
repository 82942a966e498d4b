"""A parser for the grammar shared by list filters (AIP-160) and log queries (Cloud Logging).

filter      = sequence {"AND" sequence}
sequence    = factor {factor}                   side by side is AND
factor      = term {"OR" term}                  OR binds stronger than AND
term        = ["NOT" | "-"] ("(" filter ")" | restriction)
restriction = field ("=" | "!=" | "<" | "<=" | ">" | ">=" | ":") value

Filters of metadata also have
restriction = function "(" value ")"

Filters of trials also have fields in quotes, as a metric may have any name
restriction = value comparator value

Queries of Cloud Logging also have
restriction = field ("=~" | "!~") value | field comparator "(" values ")" | value
values      = a filter of values instead of restrictions
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from typing import Generic, NoReturn

from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.filters import And, Comparator, Expression, L, Not, Or
from footplate.wire.timestamps import parse_time

MAX_COMPARISONS = 100
MAX_DEPTH = 50
FUNCTION = "()"
_LOGIC = ("AND", "OR")
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
    """A token; ``at`` counts characters from 1, and ``text`` doesn't include quotes."""

    kind: Kind
    text: str
    at: int


@dataclass(frozen=True)
class Dialect:
    """A grammar: that of lists, and what is allowed beside it.

    ``logging``: all of Cloud Logging; a value alone is a restriction of no field, by ``:``.
    """

    functions: bool = False
    names: tuple[Kind, ...] = (Kind.WORD,)
    """What the name of a field may be."""
    logging: bool = False
    max_comparisons: int = MAX_COMPARISONS


_SPACE = re.compile(r"\s*")
_COMPARATOR = re.compile(r"!=|<=|>=|[=<>:]")
_LOGGING_COMPARATOR = re.compile(r"=~|!~|!=|<=|>=|[=<>:]")
_NAME = re.compile(r"(?:[^\s()\"'<>=!:]|(?<=\.)\"[^\"\\]*\")+")
"""Parts of it after a dot may be quoted."""
_VALUE = re.compile(r"[^\s()\"']+")
_QUOTED = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_LOGGING_ESCAPED = re.compile(r"\\([\\\"'nrt])")
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t"}


def refuse_at(text: str, at: int, problem: str) -> NoReturn:
    """Raises InvalidArgument that names the place of the problem."""
    near = text[at - 1 : at - 1 + _SHOWN]
    where = f"at character {at}, near {near!r}" if near else f"at character {at}, the end"
    violation = Violation("filter", f"{problem} {where}")
    raise InvalidArgument.of((violation,))


def _tokenize(text: str, dialect: Dialect) -> tuple[Token, ...]:
    """Its tokens, END last. A word after a comparator may hold colons: it is a value.

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
    comparator = _LOGGING_COMPARATOR if dialect.logging else _COMPARATOR
    if text[position] in "()":
        return Token(Kind(text[position]), text[position], at), position + 1
    if match := _QUOTED.match(text, position):
        content = match.group(1) if match.group(1) is not None else match.group(2)
        return Token(Kind.QUOTED, _unescape(content, dialect), at), match.end()
    if after_comparator and (match := _VALUE.match(text, position)):
        return Token(Kind.WORD, match.group(), at), match.end()
    if match := comparator.match(text, position):
        return Token(Kind.COMPARATOR, match.group(), at), match.end()
    if match := _NAME.match(text, position):
        return Token(Kind.WORD, match.group().replace('"', ""), at), match.end()
    problem = "a closing quote is missing" if text[position] in "\"'" else "an unexpected character"
    refuse_at(text, at, problem)


def _unescape(content: str, dialect: Dialect) -> str:
    """Removes escapes; in queries of Cloud Logging unknown ones stay, as patterns may need them."""
    if dialect.logging:
        return _LOGGING_ESCAPED.sub(lambda found: _CONTROLS.get(found[1], found[1]), content)
    return _ESCAPED.sub(r"\1", content)


@dataclass(frozen=True)
class Restriction:
    """A comparison in a filter: a field, an operator and a value, as ``source`` spells them."""

    source: str
    name: Token
    operator: str
    """``=~`` and ``!~`` in queries of Cloud Logging, ``()`` of a function, else a comparator."""
    value: Token

    @property
    def comparator(self) -> Comparator:
        return Comparator(self.operator)

    @property
    def field(self) -> str:
        """Returns the field's name; a leading dash is part of it only if the name is quoted."""
        return self.name.text if self.name.kind is Kind.QUOTED else self.name.text.removeprefix("-")

    def refuse_name(self, problem: str) -> NoReturn:
        refuse_at(self.source, self.name.at, problem)

    def refuse_value(self, problem: str) -> NoReturn:
        refuse_at(self.source, self.value.at, problem)

    def require(self, allowed: tuple[Comparator, ...]) -> None:
        if self.comparator not in allowed:
            names = " ".join(each.value for each in allowed)
            self.refuse_name(f"{self.comparator.value} given; allowed: {names};")

    def time(self) -> datetime:
        try:
            return parse_time(self.value.text)
        except ValueError as error:
            self.refuse_value(str(error))


def parse_expression(
    text: str | None,
    compare: Callable[[Restriction], Expression[L]],
    dialect: Dialect = Dialect(),
) -> Expression[L] | None:
    """Returns the expression that ``text`` spells; None for an empty one.

    ``compare`` makes an expression of each restriction.

    Raises:
        InvalidArgument: naming the place, what is wrong there and what is allowed.
    """
    if text is None or not text.strip():
        return None
    return _Parser(text, compare, dialect).parse()


class _Parser(Generic[L]):
    """A recursive-descent parser with limited depth."""

    def __init__(
        self, text: str, compare: Callable[[Restriction], Expression[L]], dialect: Dialect
    ) -> None:
        self._text = text
        self._compare = compare
        self._dialect = dialect
        self._left = dialect.max_comparisons
        self._tokens = _tokenize(text, dialect)
        self._index = 0
        self._depth = 0
        self._compared_with: tuple[Token, str] | None = None
        """The field and the comparator before a group of values, where one is read."""

    def parse(self) -> Expression[L]:
        found = self._conjunction()
        if self._token.kind is not Kind.END:
            self._refuse("unexpected text")
        return found

    @property
    def _token(self) -> Token:
        return self._tokens[self._index]

    def _take(self, problem: str, *kinds: Kind) -> Token:
        """Returns the next token; refuses it with ``problem`` if it isn't one of ``kinds``."""
        token = self._token
        if token.kind not in kinds:
            self._refuse(problem)
        self._index += 1
        return token

    def _skip_word(self, word: str) -> bool:
        if self._token.kind is not Kind.WORD or self._token.text != word:
            return False
        self._index += 1
        return True

    def _refuse(self, problem: str, token: Token | None = None) -> NoReturn:
        refuse_at(self._text, (token or self._token).at, problem)

    def _conjunction(self) -> Expression[L]:
        parts = [self._disjunction()]
        while self._token.kind not in (Kind.END, Kind.CLOSE):
            self._skip_word("AND")
            parts.append(self._disjunction())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _disjunction(self) -> Expression[L]:
        parts = [self._term()]
        while self._skip_word("OR"):
            parts.append(self._term())
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _term(self) -> Expression[L]:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._refuse(f"the filter is nested deeper than {MAX_DEPTH} levels")
        if self._negates() and (self._skip_word("NOT") or self._skip_word("-")):
            found: Expression[L] = Not(self._term())
        elif self._token.kind is Kind.OPEN:
            found = self._group()
        else:
            found = self._restriction()
        self._depth -= 1
        return found

    def _negates(self) -> bool:
        """Returns whether ``NOT`` negates; before a comparator it is the name of a field."""
        is_word = self._token.kind is Kind.WORD
        return is_word and self._tokens[self._index + 1].kind is not Kind.COMPARATOR

    def _group(self) -> Expression[L]:
        self._index += 1
        found = self._conjunction()
        self._take("a closing parenthesis is missing", Kind.CLOSE)
        return found

    def _restriction(self) -> Expression[L]:
        if self._compared_with is not None:
            value = self._take("a value is missing", Kind.WORD, Kind.QUOTED)
            return self._compared(*self._compared_with, value)
        if self._dialect.functions and self._is_call():
            return self._function(self._take("a function is missing", Kind.WORD))
        if self._dialect.logging and self._stands_alone():
            return self._word()
        name = self._take("the name of a field is missing", *self._dialect.names)
        more = " =~ !~" if self._dialect.logging else ""
        known = f"= != : < <= > >={more}"
        operator = self._take(f"a comparator ({known}) is missing", Kind.COMPARATOR).text
        if self._dialect.logging and self._token.kind is Kind.OPEN:
            found = self._values(name, operator)
        else:
            value = self._take("a value is missing", Kind.WORD, Kind.QUOTED)
            found = self._compared(name, operator, value)
        negated = name.kind is Kind.WORD and name.text.startswith("-")
        return Not(found) if negated else found

    def _word(self) -> Expression[L]:
        value = self._take("a word is missing", Kind.WORD, Kind.QUOTED)
        name = Token(Kind.WORD, "", value.at)
        if value.kind is Kind.QUOTED:
            return self._compared(name, ":", value)
        if value.text in _LOGIC:
            self._refuse(f"{value.text} has nothing to join", value)
        found = self._compared(name, ":", replace(value, text=value.text.removeprefix("-")))
        return Not(found) if value.text.startswith("-") else found

    def _is_call(self) -> bool:
        """Returns whether a word follows, with a parenthesis right after it."""
        token, after = self._token, self._tokens[min(self._index + 1, len(self._tokens) - 1)]
        near = not self._dialect.logging or after.at == token.at + len(token.text)
        return token.kind is Kind.WORD and after.kind is Kind.OPEN and near

    def _function(self, name: Token) -> Expression[L]:
        self._index += 1
        kinds = (Kind.QUOTED, Kind.WORD) if self._dialect.logging else (Kind.QUOTED,)
        value = self._take("a value in quotes is missing", *kinds)
        self._take("a closing parenthesis is missing", Kind.CLOSE)
        return self._compared(name, FUNCTION, value)

    def _stands_alone(self) -> bool:
        """Returns whether a value follows that has no comparator after it."""
        is_value = self._token.kind in (Kind.WORD, Kind.QUOTED)
        return is_value and self._tokens[self._index + 1].kind is not Kind.COMPARATOR

    def _values(self, name: Token, operator: str) -> Expression[L]:
        """Parses a group of values to compare a field with: ``(A OR B AND NOT C)``."""
        self._compared_with = name, operator
        found = self._group()
        self._compared_with = None
        return found

    def _compared(self, name: Token, operator: str, value: Token) -> Expression[L]:
        self._left -= 1
        if self._left < 0:
            self._refuse(f"more than {self._dialect.max_comparisons} comparisons", name)
        return self._compare(Restriction(self._text, name, operator, value))
