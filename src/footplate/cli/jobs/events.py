"""Formats a job's events for people."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.wire.footplate_v1.events import Event

PASSING = frozenset(
    {
        *("QUEUED", "PREPARING", "RUNNING"),
        *("ISOLATION", "LIMITS"),
        *("SHELL_OPENED", "SHELL_CLOSED"),
        *("ENGINE_WAITS", "ENGINE_RUNS", "ENGINE_SUSPENDED"),
    }
)
"""Kinds that nobody asks for once the next thing happens; all others are to stay in sight."""

_AGAIN = frozenset({"RESTART", "RETRY"})
_SECONDS = len("2026-11-21T08:00:00")
_INDENT = "    "


class EventFormatter:
    """Formats events in their order.

    Leaves out the reason of a replica's restart if its failure was printed just before. The events
    contain it both times, so that each can be understood alone.
    """

    def __init__(self) -> None:
        self._failures: dict[str, str] = {}

    def tell(self, event: Event) -> str:
        message = event.message
        if event.kind == "REPLICA_FAILED":
            self._failures[event.replica] = f"{message}; "
        elif event.kind in _AGAIN:
            message = message.removeprefix(self._failures.pop(event.replica, ""))
        text = ": ".join(part for part in (event.kind, message) if part)
        return f"{event.replica}  {text}" if event.replica else text


def timetable(events: Sequence[Event]) -> str:
    """Returns a line for each event, with its time; further lines of a message are indented."""
    event_formatter = EventFormatter()
    return "\n".join(
        f"{event.time[:_SECONDS]}Z  " + event_formatter.tell(event).replace("\n", f"\n{_INDENT}")
        for event in events
    )


def restarts(events: Sequence[Event]) -> str:
    """Returns how often replicas were restarted, and the latest reason; '' if none was."""
    again = [event for event in events if event.kind in _AGAIN]
    if not again:
        return ""
    counts = Counter("all replicas" if e.kind == "RETRY" else e.replica for e in again)
    counted = ", ".join(f"{who} {_times(count)}" for who, count in counts.items())
    return f"Restarts: {counted}. Last restart: {again[-1].message}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
