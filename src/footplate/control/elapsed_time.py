"""Computes elapsed time, correct even if the wall clock jumps."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from footplate.domain.jobs import Job
from footplate.domain.lifecycle import Event, ReplicaEvent
from footplate.ports.clock import SteadyClock


def seconds_since(moment: datetime, now: datetime, clock: SteadyClock) -> float:
    return (clock.steady(now) - clock.steady(moment)).total_seconds()


def steadied(event: Event, clock: SteadyClock) -> Event:
    """Adds to an event of a replica its time on the scale that doesn't jump."""
    if isinstance(event, ReplicaEvent):
        return replace(event, steady_at=clock.steady(event.at))
    return event


def as_of(now: datetime, job: Job, clock: SteadyClock) -> Job:
    """Returns ``job`` with times whose differences to ``now`` are the time that has really passed.

    The result is only for computing, and must not be stored: the record keeps what the clock has
    shown.
    """

    def shift(moment: datetime | None) -> datetime | None:
        return None if moment is None else clock.steady(moment) + ahead

    def carry(moment: datetime | None) -> datetime | None:
        # The events of replicas were `steadied`: their records hold these times on the steady
        # scale.
        return None if moment is None else moment + ahead

    ahead = now - clock.steady(now)
    moments = [job.create_time, job.update_time, job.start_time or now]
    if not ahead and all(clock.steady(moment) == moment for moment in moments):
        return job
    return replace(
        job,
        create_time=shift(job.create_time) or now,
        update_time=shift(job.update_time) or now,
        start_time=shift(job.start_time),
        replicas=tuple(
            replace(r, ended_at=carry(r.ended_at), upset_at=carry(r.upset_at)) for r in job.replicas
        ),
    )
