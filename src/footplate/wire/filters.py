"""List filters in AIP-160 syntax, a superset of gcloud's and ml v1's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from footplate.domain.filters import And, Comparator, Comparison, Field, Filter, Not, Or
from footplate.domain.formatting import nearest
from footplate.domain.job_states import State, state_spellings
from footplate.wire.filter_parser import LogicalOperators, Restriction, parse_expression
from footplate.wire.timestamps import parse_time

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

MAX_COMPARISONS = 100
LONGEST_PART = 1_000
"""Characters of what a name is looked through for. Both are what the stores take."""
_OPERATORS_OF_LOGIC: LogicalOperators[Filter] = LogicalOperators(And, Or, Not)

_EQUALITIES = (Comparator.EQUAL, Comparator.NOT_EQUAL, Comparator.MATCHES)
_SAMENESS = (Comparator.EQUAL, Comparator.NOT_EQUAL)
_ORDERS = (
    Comparator.EQUAL,
    Comparator.NOT_EQUAL,
    Comparator.LESS,
    Comparator.LESS_OR_EQUAL,
    Comparator.GREATER,
    Comparator.GREATER_OR_EQUAL,
)
_TIMES = frozenset({Field.CREATE_TIME, Field.START_TIME, Field.END_TIME})
_WHOLE = (Field.REGION, Field.AUTHOR)
"""Compared as they are, and never in part."""
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
    """The fields of an API's jobs, by each of their spellings, and its names of the states.

    A state of the face that no job here ever has is None. Without ``regions`` any name is taken
    for one.
    """

    fields: Mapping[str, Field]
    states: Mapping[str, State | None]
    regions: frozenset[str] = frozenset()


def parse_filter(text: str | None, vocabulary: Vocabulary) -> Filter | None:
    """The filter that ``text`` spells; None for an empty one.

    Raises:
        InvalidArgument: naming the place, what is wrong there and what is allowed.
    """
    if text is None or not text.strip():
        return None
    reader = _Reader(vocabulary)
    return parse_expression(text, reader.read, _OPERATORS_OF_LOGIC, MAX_COMPARISONS)


class _Reader:
    """Makes comparisons of an API's fields of restrictions."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._fields = vocabulary.fields
        self._states = vocabulary.states
        self._regions = vocabulary.regions

    def read(self, given: Restriction) -> Filter:
        comparator, value = given.comparator, given.value.text
        if comparator is Comparator.MATCHES and len(value) > LONGEST_PART:
            problem = f"{given.field}: {len(value)} characters given"
            given.refuse_value(f"{problem}; allowed with ':': at most {LONGEST_PART};")
        if given.field == "labels" and comparator is Comparator.MATCHES:
            return Comparison(Field.LABEL, comparator, "*", value)
        if given.field.startswith(_LABELS) and len(given.field) > len(_LABELS):
            _require(given, _EQUALITIES)
            return Comparison(Field.LABEL, comparator, value, given.field.removeprefix(_LABELS))
        field = self._fields.get(given.field)
        if field is None:
            known = ", ".join((*sorted(self._fields), "labels.KEY"))
            given.refuse_name(f"unknown field; allowed: {known};")
        if field in _TIMES:
            _require(given, _ORDERS)
            return Comparison(field, comparator, _time(given))
        _require(given, _SAMENESS if field in _WHOLE else _EQUALITIES)
        if field is Field.REGION and self._regions and value not in self._regions:
            given.refuse_value(f"unknown region; {nearest(value, self._regions, 'regions')};")
        if field is Field.STATE:
            return self._read_state(given)
        return Comparison(field, comparator, value)

    def _read_state(self, given: Restriction) -> Filter:
        spelled = (name for name in state_spellings(given.value.text) if name in self._states)
        if (name := next(spelled, None)) is None:
            given.refuse_value(f"unknown state; allowed: {', '.join(self._states)};")
        state = self._states[name]
        different = given.comparator is Comparator.NOT_EQUAL
        if state is None:
            return Not(NOTHING) if different else NOTHING
        comparator = Comparator.NOT_EQUAL if different else Comparator.EQUAL
        return Comparison(Field.STATE, comparator, state)


def _require(given: Restriction, allowed: tuple[Comparator, ...]) -> None:
    if given.comparator not in allowed:
        names = " ".join(c.value for c in allowed)
        given.refuse_name(f"{given.comparator.value} given; allowed: {names};")


def _time(given: Restriction) -> datetime:
    try:
        return parse_time(given.value.text)
    except ValueError as error:
        given.refuse_value(str(error))
