"""Opaque page tokens with the sort key of the last record."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Protocol

from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.jobs import Job
from footplate.domain.text_validation import storable
from footplate.domain.timestamps import to_micros
from footplate.ports.pages import Page, T
from footplate.ports.store import Page as PageOfJobs

_LARGEST = 2**63


class Listed(Protocol):
    """A record that lists show newest first: a job or a study."""

    @property
    def uid(self) -> str: ...

    @property
    def create_time(self) -> datetime: ...


@dataclass(frozen=True, order=True)
class Position:
    """A record's place in a list: by its creation time, then by its uid."""

    create_time: int
    uid: str

    @classmethod
    def of(cls, record: Listed) -> Position:
        return cls(to_micros(record.create_time), record.uid)

    def key(self) -> str:
        text = f"{self.create_time}/{self.uid}"
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    @classmethod
    def parse(cls, key: str) -> Position:
        """Parses a key. Raises InvalidArgument: ``key`` never returned it."""
        try:
            position = _decode(key)
        except (ValueError, binascii.Error):
            position = None
        if position is None or position.key() != key:
            rule = "the nextPageToken of an earlier answer, unchanged"
            violation = Violation("pageToken", f"{key[:80]!a} given; allowed: {rule}")
            raise InvalidArgument.of((violation,))
        return position


def make_page(
    read: Sequence[Job], limit: int, *, after: str | None, before: str | None
) -> PageOfJobs:
    """Makes a page; ``read`` has more than ``limit`` jobs if the list goes on."""
    jobs, more = tuple(read[:limit]), len(read) > limit
    if before is not None:
        jobs = jobs[::-1]
    if not jobs:
        return PageOfJobs((), None)
    first, last = Position.of(jobs[0]).key(), Position.of(jobs[-1]).key()
    if before is not None:
        return PageOfJobs(jobs, last, first if more else None)
    return PageOfJobs(jobs, last if more else None, None if after is None else first)


def first_page(found: Iterable[T], limit: int, position: Callable[[T], Position]) -> Page[T]:
    """Returns a page of ``limit`` records at most; its key continues if there are more."""
    items = [*islice(found, limit + 1)]
    page = tuple(items[:limit])
    return Page(page, position(page[-1]).key() if len(items) > limit else None)


def _decode(key: str) -> Position | None:
    text = base64.b64decode(key + "=" * (-len(key) % 4), altchars=b"-_", validate=True).decode()
    number, _, uid = text.partition("/")
    if abs(int(number)) >= _LARGEST or not storable(uid):
        return None
    return Position(int(number), uid)
