"""The life cycle of a tuning job, which follows from its trials."""

from __future__ import annotations

from dataclasses import replace

from footplate.domain.errors import Code
from footplate.domain.job_states import State
from footplate.domain.jobs import Ending, Job
from footplate.domain.lifecycle.events import (
    CancelRequested,
    Event,
    SearchEnds,
    TrialsBegin,
    TrialsGone,
)

_ORDER = (State.QUEUED, State.PREPARING, State.RUNNING)


def apply(job: Job, event: Event) -> Job:
    """Applies an event to a tuning job, which ignores events of replicas as it has none."""
    match event:
        case TrialsBegin():
            after = _begin(job, State.RUNNING if event.running else State.PREPARING)
            running = after.state is State.RUNNING and after.start_time is None
            return replace(after, start_time=event.since) if running else after
        case SearchEnds() if job.ending is None:
            # Only a RUNNING job may succeed. The caller sends the event again, and it counts then.
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
    """Moves the state forward by one step at most: trials are prepared before they run."""
    if job.ending is not None or job.state not in _ORDER:
        return job
    here = _ORDER.index(job.state)
    wanted = _ORDER.index(state)
    return job if wanted <= here else replace(job, state=_ORDER[here + 1])


def _end(job: Job, ending: Ending) -> Job:
    """Decides the end of a tuning job, whose trials may still run.

    A cancelled job is CANCELLING until its trials have ended; a failed one keeps its state until
    then. A search that has succeeded can still be cancelled while trials run.
    """
    state = State.CANCELLING if ending.state is State.CANCELLED else job.state
    return replace(job, ending=ending, state=state)
