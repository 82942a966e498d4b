"""The life cycle of a tuning job, which follows from its trials."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from footplate.domain.errors import Code
from footplate.domain.job_states import State
from footplate.domain.jobs import Ending
from footplate.domain.lifecycle.events import (
    CancelRequested,
    SearchEnds,
    TrialsBegin,
    TrialsGone,
)

if TYPE_CHECKING:
    from footplate.domain.jobs import Job
    from footplate.domain.lifecycle.events import Event

_ORDER = (State.QUEUED, State.PREPARING, State.RUNNING)


def apply(job: Job, event: Event) -> Job:
    """Events of replicas mean nothing to it: it has none."""
    match event:
        case TrialsBegin():
            after = _begin(job, State.RUNNING if event.running else State.PREPARING)
            running = after.state is State.RUNNING and after.start_time is None
            return replace(after, start_time=event.since) if running else after
        case SearchEnds() if job.ending is None:
            if event.ending.state is State.SUCCEEDED and job.state is not State.RUNNING:
                return _begin(job, State.RUNNING)
            return _end(job, event.ending)
        case CancelRequested() if job.ending is None or job.ending.state is not State.CANCELLED:
            ending = Ending(State.CANCELLED, Code.CANCELLED, event.message)
            return _end(job, ending)
        case TrialsGone() if job.ending is not None:
            return replace(job, state=job.ending.state)
        case _:
            return job


def _begin(job: Job, state: State) -> Job:
    """Moves the state forward one step at a time: what runs was prepared, what succeeds has run."""
    if job.ending is not None or job.state not in _ORDER:
        return job
    here = _ORDER.index(job.state)
    wanted = _ORDER.index(state)
    return job if wanted <= here else replace(job, state=_ORDER[here + 1])


def _end(job: Job, ending: Ending) -> Job:
    """A cancelled one waits, as CANCELLING, for its trials; one that fails in the state it has.

    A search that has ended well, of which trials still run, can be cancelled.
    """
    state = State.CANCELLING if ending.state is State.CANCELLED else job.state
    return replace(job, ending=ending, state=state)
