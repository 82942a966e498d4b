"""The events in which a job has what an engine says of it. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from footplate.domain.jobs import JobEvent

WAITS = "ENGINE_WAITS"
"""Why its replicas wait in the engine's queue."""
SUSPENDED = "ENGINE_SUSPENDED"
"""That the engine has suspended a replica's job, or has resumed it."""
RUNS = "ENGINE_RUNS"
"""In which of the engine's jobs a replica runs, and on which node."""


def engine_wait(events: Iterable[JobEvent], attempt: int) -> str:
    """Returns the last reason for which the engine lets the attempt wait; empty: none is known."""
    return _last(event for event in events if event.kind == WAITS and event.attempt == attempt)


def engine_jobs(events: Iterable[JobEvent], attempt: int) -> dict[str, str]:
    """Returns the engine's job id for each replica of the attempt."""
    mine = (event for event in events if event.kind == RUNS and event.attempt == attempt)
    return {event.replica: event.message for event in mine}


def _last(events: Iterable[JobEvent]) -> str:
    message = ""
    for event in events:
        message = event.message
    return message
