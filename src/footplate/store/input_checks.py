"""Rejects what the database cannot hold: invalid texts, excessive filters."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import assert_never

from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.filters import And, Comparator, Comparison, Field, Filter, Not, Or, leaves
from footplate.domain.formatting import quoted
from footplate.domain.job_states import State
from footplate.domain.jobs import Job
from footplate.domain.studies.records import StudyRecord
from footplate.domain.studies.space import Point
from footplate.domain.text_validation import STORABLE, storable

MAX_COMPARISONS = 100
MAX_DEPTH = 50
MAX_CHARACTERS = 10_000
"""SQLite refuses patterns over 50,000 bytes."""

MAX_DISPLAY_NAME_BYTES = 1_024
"""PostgreSQL's indexes take 2,704 bytes, with all that a list is sorted by."""


def countable(number: int) -> bool:
    """Returns whether a numeric column can hold a number, which a URL may have given."""
    return 0 <= number < 2**31


def check_texts(job: Job) -> None:
    """Checks that a job's texts can be stored unchanged, and that its names fit into an index.

    Raises:
        InvalidArgument: names the field.
    """
    texts = {
        "name": str(job.name),
        "displayName": job.display_name,
        "region": job.region,
        "request": job.request,
        "labels": "".join(key + value for key, value in job.labels),
        "note": job.note,
        "author": job.author,
    }
    _check_storable(texts)
    if (size := len(job.display_name.encode())) > MAX_DISPLAY_NAME_BYTES:
        allowed = f"at most {MAX_DISPLAY_NAME_BYTES} bytes of UTF-8"
        raise InvalidArgument.of((Violation("displayName", f"{size} bytes; allowed: {allowed}"),))


def check_quota_texts(project: str, region: str, resources: Iterable[str]) -> None:
    """Checks that the names in a quota can be stored.

    Raises:
        InvalidArgument: names the field.
    """
    _check_storable({"project": project, "region": region, "limits": "".join(resources)})


def check_point(point: Point) -> None:
    """Checks a point. Raises InvalidArgument: a value is nan or infinite."""
    for name, value in point.items():
        if isinstance(value, float) and not math.isfinite(value):
            violation = Violation("parameters", f"{quoted(name)}: {value} given; allowed: a number")
            raise InvalidArgument.of((violation,))


def check_study_texts(study: StudyRecord) -> None:
    """Checks that a study's texts in columns can be stored unchanged; its documents hold any text.

    Raises:
        InvalidArgument: names the field.
    """
    texts = {
        "name": "" if study.name is None else str(study.name),
        "displayName": study.display_name,
        "studySpec": study.request,
    }
    _check_storable(texts)


def _check_storable(texts: Mapping[str, str]) -> None:
    for field, text in texts.items():
        if not storable(text):
            violation = Violation(field, f"{text[:80]!a} given; allowed: {STORABLE}")
            raise InvalidArgument.of((violation,))


def check_filter(where: Filter) -> None:
    """Checks that a filter isn't too large, and compares only comparable fields.

    Raises:
        InvalidArgument: names ``filter`` and what is allowed.
    """
    if _deeper_than(MAX_DEPTH, where):
        raise _bad_filter(f"at most {MAX_DEPTH} levels")
    comparisons = [*leaves(where)]
    if len(comparisons) > MAX_COMPARISONS:
        raise _bad_filter(f"at most {MAX_COMPARISONS} comparisons")
    for comparison in comparisons:
        _check_comparison(comparison)


def _deeper_than(limit: int, where: Filter) -> bool:
    parts = where.parts if isinstance(where, And | Or) else ()
    if isinstance(where, Not):
        parts = (where.part,)
    return limit == 0 or any(_deeper_than(limit - 1, part) for part in parts)


def _check_comparison(comparison: Comparison) -> None:
    field, comparator, value = comparison.field, comparison.comparator, comparison.value
    equality = comparator in (Comparator.EQUAL, Comparator.NOT_EQUAL)
    match field:
        case Field.STATE:
            good, allowed = isinstance(value, State) and equality, "a state with = or !="
        case Field.REGION | Field.AUTHOR:
            good = isinstance(value, str) and equality and _small(value)
            allowed = f"{STORABLE}, at most {MAX_CHARACTERS} of them, with = or !="
        case Field.CREATE_TIME | Field.START_TIME | Field.END_TIME:
            instant = isinstance(value, datetime) and value.tzinfo is not None
            good = instant and comparator is not Comparator.MATCHES
            allowed = "a time with =, !=, <, <=, > or >="
        case Field.DISPLAY_NAME | Field.JOB_ID | Field.LABEL:
            named = field is not Field.LABEL or comparison.label is not None
            good = isinstance(value, str) and named and _small(f"{comparison.label}{value}")
            allowed = f"{STORABLE}, at most {MAX_CHARACTERS} of them"
        case _:
            assert_never(field)
    if not good:
        raise _bad_filter(f"{field.value}: {allowed}")


def _small(text: str) -> bool:
    return storable(text) and len(text) <= MAX_CHARACTERS


def _bad_filter(allowed: str) -> InvalidArgument:
    return InvalidArgument.of((Violation("filter", f"allowed: {allowed}"),))
