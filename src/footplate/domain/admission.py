"""Which queued jobs may start now: all replicas of a job or none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.states import State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.domain.jobs import Job
    from footplate.domain.names import JobUid


def admit(jobs: Sequence[Job], capacity: int) -> tuple[JobUid, ...]:
    """The queued jobs of ``jobs`` that may start beside those that hold replicas already.

    ``jobs`` are all active ones, oldest first; ``capacity`` is the number of replicas that may
    run at once. Higher priority first, then first come; nobody passes a job that must wait, so
    that a large one isn't starved. A job larger than the capacity starts when it is alone.
    """
    free = capacity - sum(size(job) for job in jobs if job.state is not State.QUEUED)
    alone = free == capacity
    admitted: list[JobUid] = []
    for job in queue(jobs):
        if size(job) > free and not alone:
            break
        admitted.append(job.uid)
        free, alone = free - size(job), False
    return tuple(admitted)


def queue(jobs: Sequence[Job]) -> tuple[Job, ...]:
    """The queued jobs of ``jobs`` in the order in which they are to start."""
    queued = (job for job in jobs if job.state is State.QUEUED)
    return tuple(sorted(queued, key=lambda job: -job.spec.scheduling.priority))


def size(job: Job) -> int:
    """How many replicas the job holds when it runs."""
    return sum(pool.replica_count for pool in job.spec.pools)
