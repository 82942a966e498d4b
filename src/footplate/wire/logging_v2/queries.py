"""The part of the Logging query language that log readers use.

query      = sequence {"AND" sequence}
sequence   = factor {factor}                   side by side is AND
factor     = term {"OR" term}                  OR binds stronger than AND
term       = ["NOT" | "-"] ("(" query ")" | comparison)
comparison = field ("=" | "!=" | "<" | "<=" | ">" | ">=" | ":") value

Fields: those of an entry, down to the keys of its labels and payload.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from footplate.domain.filters import Comparator
from footplate.wire.filter_tokens import Kind, Token, refuse_at, tokenize
from footplate.wire.severity import SEVERITIES
from footplate.wire.timestamps import parse_time

if TYPE_CHECKING:
    from datetime import datetime

MAX_DEPTH = 50
MAX_COMPARISONS = 200

TIMES = ("timestamp", "receiveTimestamp")
_FIELDS = frozenset(
    {
        *TIMES,
        "insertId",
        "severity",
        "logName",
        "textPayload",
        "resource.type",
        "resource.labels.job_id",
        "resource.labels.task_name",
        "resource.labels.project_id",
    }
)
_OPEN_FIELDS = ("labels.", "jsonPayload.", "resource.labels.")


@dataclass(frozen=True)
class Comparison:
    """``value`` is a time for times, a place in SEVERITIES for the severity."""

    field: str
    comparator: Comparator
    value: str | int | datetime


@dataclass(frozen=True)
class And:
    parts: tuple[Query, ...]


@dataclass(frozen=True)
class Or:
    parts: tuple[Query, ...]


@dataclass(frozen=True)
class Not:
    part: Query


Query = Comparison | And | Or | Not


def parse_query(text: str) -> Query:
    """The query that ``text`` spells; an empty one has no conditions.

    Raises:
        InvalidArgument: naming the place, what is wrong there and what is allowed.
    """
    return _Parser(text).parse() if text.strip() else And(())


class _Parser:
    """Recursive descent, with its depth bounded."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokenize(text)
        self._index = 0
        self._depth = 0
        self._comparisons = 0

    def parse(self) -> Query:
        found = self._conjunction()
        if self._token.kind is not Kind.END:
            self._refuse("unexpected text")
        return found

    @property
    def _token(self) -> Token:
        return self._tokens[self._index]

    def _take(self) -> Token:
        token = self._token
        self._index += 1
        return token

    def _refuse(self, problem: str, token: Token | None = None) -> NoReturn:
        refuse_at(self._text, (token or self._token).at, problem)

    def _is_word(self, word: str) -> bool:
        return self._token.kind is Kind.WORD and self._token.text == word

    def _conjunction(self) -> Query:
        parts = [self._disjunction()]
        while self._token.kind not in (Kind.END, Kind.CLOSE):
            if self._is_word("AND"):
                self._take()
            parts.append(self._disjunction())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _disjunction(self) -> Query:
        parts = [self._term()]
        while self._is_word("OR"):
            self._take()
            parts.append(self._term())
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _term(self) -> Query:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._refuse(f"nested deeper than {MAX_DEPTH} levels")
        if self._is_word("NOT") or self._is_word("-"):
            self._take()
            found: Query = Not(self._term())
        elif self._token.kind is Kind.OPEN:
            found = self._group()
        else:
            found = self._comparison()
        self._depth -= 1
        return found

    def _group(self) -> Query:
        self._take()
        found = self._conjunction()
        if self._token.kind is not Kind.CLOSE:
            self._refuse("a closing parenthesis is missing")
        self._take()
        return found

    def _comparison(self) -> Query:
        name = self._token
        if name.kind is not Kind.WORD:
            self._refuse("the name of a field is missing")
        self._take()
        comparator = self._token
        if comparator.kind is not Kind.COMPARATOR:
            self._refuse("a comparator (= != : < <= > >=) is missing")
        self._take()
        value = self._token
        if value.kind not in (Kind.WORD, Kind.QUOTED):
            self._refuse("a value is missing")
        self._take()
        self._comparisons += 1
        if self._comparisons > MAX_COMPARISONS:
            self._refuse(f"more than {MAX_COMPARISONS} comparisons", name)
        found = self._compare(name, Comparator(comparator.text), value)
        return Not(found) if name.text.startswith("-") else found

    def _compare(self, name: Token, comparator: Comparator, value: Token) -> Comparison:
        field = name.text.removeprefix("-")
        if field not in _FIELDS and not field.startswith(_OPEN_FIELDS):
            known = ", ".join((*sorted(_FIELDS), "labels.KEY", "jsonPayload.KEY"))
            self._refuse(f"unknown field; allowed: {known};", name)
        if field in TIMES:
            return Comparison(field, comparator, self._time(comparator, value))
        if field == "severity":
            return Comparison(field, comparator, self._severity(value))
        return Comparison(field, comparator, value.text)

    def _time(self, comparator: Comparator, value: Token) -> datetime:
        if comparator is Comparator.MATCHES:
            self._refuse(": given for a time; allowed: = != < <= > >=;", value)
        try:
            return parse_time(value.text)
        except ValueError as error:
            self._refuse(str(error), value)

    def _severity(self, value: Token) -> int:
        """By name, or by Cloud Logging's numbers: 100 for each place."""
        text = value.text.upper()
        if text.isascii() and text.isdigit() and len(text) < 5:
            return int(text) // 100
        if text not in SEVERITIES:
            self._refuse(f"unknown severity; allowed: {', '.join(SEVERITIES)};", value)
        return SEVERITIES.index(text)
