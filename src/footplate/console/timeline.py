"""The time that a job spent in each state, from its events. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from footplate.console.formatting import ICONS, parse

if TYPE_CHECKING:
    from pydantic import JsonValue

    Event = Mapping[str, JsonValue]

WIDTH = 1000
"""Of the whole bar, in units of its drawing."""
_LEAST = 4.0
"""So wide is at least what took no time."""
_RESTARTS = ("RESTART", "RETRY")
TERMINAL = ("SUCCEEDED", "FAILED", "CANCELLED")


@dataclass(frozen=True)
class Segment:
    state: str
    seconds: float
    x: float
    width: float


@dataclass(frozen=True)
class Marker:
    """A restart of one replica, or of all."""

    x: float
    time: str
    text: str


@dataclass(frozen=True)
class Timeline:
    segments: tuple[Segment, ...]
    markers: tuple[Marker, ...]


def make_timeline(job: Mapping[str, JsonValue], events: Sequence[Event], now: datetime) -> Timeline:
    """Returns a timeline from the job's creation to its end, or to ``now``."""
    begin = parse(str(job["createTime"]))
    end = parse(str(job["endTime"])) if "endTime" in job else now
    spans = _spans(events, begin, max(begin, end))
    whole = max((end - begin).total_seconds(), 1e-6)
    segments: list[Segment] = []
    x = 0.0
    for state, seconds in spans:
        width = _LEAST + seconds / whole * (WIDTH - _LEAST * len(spans))
        segments.append(Segment(state, seconds, round(x, 1), round(width, 1)))
        x += width
    markers = tuple(
        Marker(
            round(min(1.0, (parse(str(e["time"])) - begin).total_seconds() / whole) * WIDTH, 1),
            str(e["time"]),
            f"{e.get('replica') or 'all replicas'}: {e.get('message') or e['kind']}",
        )
        for e in events
        if e["kind"] in _RESTARTS
    )
    return Timeline(tuple(segments), markers)


def _spans(events: Sequence[Event], begin: datetime, end: datetime) -> list[tuple[str, float]]:
    """Returns the job's states with their parts of the time; only the first one if its events
    are gone.
    """
    changes = [("QUEUED", begin)]
    for event in events:
        state = str(event["kind"])
        new = state in ICONS and not event.get("replica") and state != changes[-1][0]
        if new:
            changes.append((state, max(changes[-1][1], parse(str(event["time"])))))
    found: list[tuple[str, float]] = []
    for (state, start), (_, stop) in zip(changes, [*changes[1:], ("", end)], strict=True):
        if state not in TERMINAL:
            found.append((state, max(0.0, (min(stop, end) - start).total_seconds())))
    return found
