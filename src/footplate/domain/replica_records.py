"""The records that a replica reports."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from footplate.domain.job_states import Phase
from footplate.domain.jobs import Address, Exit
from footplate.domain.log_lines import Line
from footplate.domain.usage import Sample


@dataclass(frozen=True)
class StateRecord:
    """A replica's progress: its environment is being prepared or is ready, or its program runs.

    ``address`` is where the other replicas find it; only a READY replica of a gang has one.
    """

    sequence: int
    time: datetime
    phase: Phase
    address: Address | None = None


@dataclass(frozen=True)
class EventRecord:
    sequence: int
    time: datetime
    kind: str
    message: str


@dataclass(frozen=True)
class LineRecord:
    line: Line

    @property
    def sequence(self) -> int:
        return self.line.sequence


@dataclass(frozen=True)
class ExitRecord:
    """The end of the program, which is the last record of a replica."""

    sequence: int
    time: datetime
    exit: Exit


@dataclass(frozen=True)
class UsageRecord:
    sample: Sample

    @property
    def sequence(self) -> int:
        return self.sample.sequence


@dataclass(frozen=True)
class MetricRecord:
    """A value of a metric that the program of a trial reported at ``time``."""

    sequence: int
    time: datetime
    tag: str
    step: int
    value: float
    """Not always finite."""
    source: str
    """``hypertune``, or the folder of the event file below the directory that was looked through
    (``logs/train``; ``.``: that directory itself)."""


@dataclass(frozen=True)
class TagsRecord:
    """The tags that the program reported, if none of the wanted ones was among them."""

    sequence: int
    time: datetime
    tags: tuple[str, ...]


Record = (
    StateRecord | EventRecord | LineRecord | UsageRecord | MetricRecord | TagsRecord | ExitRecord
)
