"""The filters of lists, in the syntax of AIP-160, which gcloud's and ml v1's are part of.

filter     = sequence {"AND" sequence}
sequence   = factor {factor}                   side by side is AND
factor     = term {"OR" term}                  OR binds stronger than AND
term       = ["NOT" | "-"] ("(" filter ")" | restriction)
restriction = field comparator value
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from footplate.domain.filters import And, Comparator, Comparison, Field, Filter, Not, Or
from footplate.domain.states import State
from footplate.wire.filter_tokens import Kind, Token, refuse_at, tokenize
from footplate.wire.timestamps import parse_time

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

MAX_DEPTH = 50
MAX_COMPARISONS = 100
"""What the stores take."""

_EQUALITIES = (Comparator.EQUAL, Comparator.NOT_EQUAL, Comparator.MATCHES)
_ORDERS = (
    Comparator.EQUAL,
    Comparator.NOT_EQUAL,
    Comparator.LESS,
    Comparator.LESS_OR_EQUAL,
    Comparator.GREATER,
    Comparator.GREATER_OR_EQUAL,
)
_TIMES = frozenset({Field.CREATE_TIME, Field.START_TIME, Field.END_TIME})
_LABELS = "labels."
NOTHING = And(
    (
        Comparison(Field.STATE, Comparator.EQUAL, State.QUEUED),
        Comparison(Field.STATE, Comparator.NOT_EQUAL, State.QUEUED),
    )
)
"""Matches no job: what a state means that is known to the face and that no job ever has."""


@dataclass(frozen=True)
class Vocabulary:
    """The fields of a face's jobs, by each of their spellings, and its names of the states.

    A state of the face that no job here ever has is None.
    """

    fields: Mapping[str, Field]
    states: Mapping[str, State | None]


def parse_filter(text: str | None, vocabulary: Vocabulary) -> Filter | None:
    """The filter that ``text`` spells; None for an empty one.

    Raises:
        InvalidArgument: naming the place, what is wrong there and what is allowed.
    """
    if text is None or not text.strip():
        return None
    return _Parser(text, vocabulary).parse()


class _Parser:
    """Recursive descent, with its depth bounded."""

    def __init__(self, text: str, vocabulary: Vocabulary) -> None:
        self._text = text
        self._vocabulary = vocabulary
        self._tokens = tokenize(text)
        self._index = 0
        self._depth = 0
        self._comparisons = 0

    def parse(self) -> Filter:
        found = self._conjunction()
        if not self._is(Kind.END):
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

    def _is(self, kind: Kind) -> bool:
        return self._token.kind is kind

    def _is_word(self, word: str) -> bool:
        return self._token.kind is Kind.WORD and self._token.text == word

    def _conjunction(self) -> Filter:
        parts = [self._disjunction()]
        while self._token.kind not in (Kind.END, Kind.CLOSE):
            if self._is_word("AND"):
                self._take()
            parts.append(self._disjunction())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _disjunction(self) -> Filter:
        parts = [self._term()]
        while self._is_word("OR"):
            self._take()
            parts.append(self._term())
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _term(self) -> Filter:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._refuse(f"nested deeper than {MAX_DEPTH} levels")
        found = self._negation() or self._group() or self._restriction()
        self._depth -= 1
        return found

    def _negation(self) -> Filter | None:
        following = self._tokens[self._index + 1] if self._token.kind is Kind.WORD else None
        if following is None or following.kind is Kind.COMPARATOR:
            return None
        if self._token.text in ("NOT", "-"):
            self._take()
            return Not(self._term())
        return None

    def _group(self) -> Filter | None:
        if not self._is(Kind.OPEN):
            return None
        self._take()
        found = self._conjunction()
        if not self._is(Kind.CLOSE):
            self._refuse("a closing parenthesis is missing")
        self._take()
        return found

    def _restriction(self) -> Filter:
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

    def _compare(self, name: Token, comparator: Comparator, value: Token) -> Filter:
        field_name = name.text.removeprefix("-")
        if field_name == "labels" and comparator is Comparator.MATCHES:
            return Comparison(Field.LABEL, comparator, "*", value.text)
        if field_name.startswith(_LABELS) and len(field_name) > len(_LABELS):
            self._require(name, comparator, _EQUALITIES)
            label = field_name.removeprefix(_LABELS)
            return Comparison(Field.LABEL, comparator, value.text, label)
        field = self._vocabulary.fields.get(field_name)
        if field is None:
            known = ", ".join((*sorted(self._vocabulary.fields), "labels.KEY"))
            refuse_at(self._text, name.at, f"unknown field; allowed: {known};")
        if field in _TIMES:
            self._require(name, comparator, _ORDERS)
            return Comparison(field, comparator, self._time(value))
        self._require(name, comparator, _EQUALITIES)
        if field is Field.STATE:
            return self._compare_state(comparator, value)
        return Comparison(field, comparator, value.text)

    def _compare_state(self, comparator: Comparator, value: Token) -> Filter:
        states = self._vocabulary.states
        if value.text not in states:
            self._refuse(f"unknown state; allowed: {', '.join(states)};", value)
        state = states[value.text]
        different = comparator is Comparator.NOT_EQUAL
        if state is None:
            return Not(NOTHING) if different else NOTHING
        return Comparison(
            Field.STATE, Comparator.NOT_EQUAL if different else Comparator.EQUAL, state
        )

    def _require(
        self, name: Token, comparator: Comparator, allowed: tuple[Comparator, ...]
    ) -> None:
        if comparator not in allowed:
            names = " ".join(c.value for c in allowed)
            self._refuse(f"{comparator.value} given; allowed: {names};", name)

    def _time(self, value: Token) -> datetime:
        try:
            return parse_time(value.text)
        except ValueError as error:
            refuse_at(self._text, value.at, str(error))
