"""List filters in AIP-160 syntax, a superset of gcloud's and ml v1's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from footplate.domain.filters import (
    EXACT,
    ORDERED,
    TEXT,
    Comparator,
    Comparison,
    Field,
    Filter,
    Not,
    Or,
)
from footplate.domain.formatting import nearest
from footplate.domain.job_states import State, state_spellings
from footplate.wire.filters.parser import Restriction, parse_expression

LONGEST_PART = 1_000
"""Characters of what a name is looked through for; stores take them."""

_TIMES = frozenset({Field.CREATE_TIME, Field.START_TIME, Field.END_TIME})
_WHOLE = (Field.REGION, Field.AUTHOR)
"""Compared as they are, and never in part."""
_LABELS = "labels."
NOTHING: Filter = Or(())
"""Matches no job: what a state means that is known to the face and that no job ever has."""


@dataclass(frozen=True)
class Vocabulary:
    """The spellings of job fields in an API, and its names of states.

    A state that no job here ever has maps to None. If ``regions`` is empty, any name counts as a
    region.
    """

    fields: Mapping[str, Field]
    states: Mapping[str, State | None]
    regions: frozenset[str] = frozenset()

    def read(self, given: Restriction) -> Filter:
        """Raises InvalidArgument."""
        comparator, value = given.comparator, given.value.text
        if comparator is Comparator.MATCHES and len(value) > LONGEST_PART:
            given.refuse_value(
                f"{given.field}: {len(value)} characters given; allowed with the operator ':': at "
                f"most {LONGEST_PART};"
            )
        if given.field == "labels" and comparator is Comparator.MATCHES:
            return Comparison(Field.LABEL, comparator, "*", value)
        if given.field.startswith(_LABELS) and len(given.field) > len(_LABELS):
            given.require(TEXT)
            return Comparison(Field.LABEL, comparator, value, given.field.removeprefix(_LABELS))
        field = self.fields.get(given.field)
        if field is None:
            known = ", ".join((*sorted(self.fields), "labels.KEY"))
            given.refuse_name(f"unknown field; allowed: {known};")
        if field in _TIMES:
            given.require(ORDERED)
            return Comparison(field, comparator, given.time())
        given.require(EXACT if field in _WHOLE else TEXT)
        if field is Field.REGION and self.regions and value not in self.regions:
            given.refuse_value(f"unknown region; {nearest(value, self.regions, 'regions')};")
        if field is Field.STATE:
            return self._read_state(given)
        return Comparison(field, comparator, value)

    def _read_state(self, given: Restriction) -> Filter:
        spelled = (name for name in state_spellings(given.value.text) if name in self.states)
        if (name := next(spelled, None)) is None:
            given.refuse_value(f"unknown state; allowed: {', '.join(self.states)};")
        state = self.states[name]
        different = given.comparator is Comparator.NOT_EQUAL
        if state is None:
            return Not(NOTHING) if different else NOTHING
        comparator = Comparator.NOT_EQUAL if different else Comparator.EQUAL
        return Comparison(Field.STATE, comparator, state)


def parse_filter(text: str | None, vocabulary: Vocabulary) -> Filter | None:
    """The filter that ``text`` spells. Returns None, and raises, as ``parse_expression``."""
    return parse_expression(text, vocabulary.read)
