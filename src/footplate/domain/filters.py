"""Filter expressions over a job's fields."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from footplate.domain.job_states import State


class Field(Enum):
    """A field of a job that lists can be filtered by; LABEL needs the label's key."""

    STATE = "state"
    DISPLAY_NAME = "display_name"
    JOB_ID = "job_id"
    CREATE_TIME = "create_time"
    START_TIME = "start_time"
    END_TIME = "end_time"
    REGION = "region"
    AUTHOR = "author"
    LABEL = "labels"


class Comparator(Enum):
    EQUAL = "="
    NOT_EQUAL = "!="
    """True wherever EQUAL is false: also for a job without the label or the time."""
    LESS = "<"
    LESS_OR_EQUAL = "<="
    GREATER = ">"
    GREATER_OR_EQUAL = ">="
    MATCHES = ":"
    """Text: the value with ``*`` as wildcard, else contained in it, whatever the case.
    LABEL with value ``*``: the label is there."""


@dataclass(frozen=True)
class Comparison:
    field: Field
    comparator: Comparator
    value: str | State | datetime
    label: str | None = None


@dataclass(frozen=True)
class And:
    parts: tuple[Filter, ...]


@dataclass(frozen=True)
class Or:
    parts: tuple[Filter, ...]


@dataclass(frozen=True)
class Not:
    part: Filter


Filter = Comparison | And | Or | Not
