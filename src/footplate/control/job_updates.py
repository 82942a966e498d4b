"""The one way to change a job: load, decide, write guarded by the version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from footplate.domain.errors import Aborted
from footplate.domain.jobs import Job, JobEvent
from footplate.domain.lifecycle import Event, Reaction, react
from footplate.domain.names import JobUid
from footplate.ports.store import Store

TRIES = 20
"""Writers of one job are few: more collisions in a row than this mean a defect."""


def apply(
    store: Store,
    uid: JobUid,
    event: Event,
    notes: Sequence[JobEvent] = (),
    known: Job | None = None,
) -> Reaction:
    """Applies ``event`` to the job; retries after a conflicting write.

    ``known`` is the job as the caller has just read it: it is read again only after a conflict.

    ``notes`` are recorded before the consequences of the event, in the same write, even if the
    event has none.

    Raises:
        NotFound: the job doesn't exist (any more).
        Aborted: others kept writing; nothing was changed.
    """
    return apply_all(store, uid, (*notes, event), known)


def apply_all(
    store: Store, uid: JobUid, steps: Sequence[Event | JobEvent], known: Job | None = None
) -> Reaction:
    """Applies events to the job, and records notes, in the given order and in one write.

    ``known`` is as in ``apply``. Raises what ``apply`` raises.
    """
    for _ in range(TRIES):
        job = store.get_by_uid(uid) if known is None else known
        known = None
        reaction = _decide(job, steps)
        if reaction.job is job:
            if reaction.history:
                # Guarded by no version: the job stays as it is, whatever others write.
                store.append(uid, reaction.history)
            return reaction
        try:
            store.update(reaction.job, reaction.history)
        except Aborted:
            continue
        return reaction
    raise Aborted(f"other requests keep changing job {uid}; try again")


def _decide(job: Job, steps: Sequence[Event | JobEvent]) -> Reaction:
    """Combines the reactions to all steps for one write; no steps have no effect."""
    after = Reaction(job, ())
    for step in steps:
        if isinstance(step, JobEvent):
            after = replace(after, history=(*after.history, step))
        else:
            reaction = react(after.job, step)
            after = replace(reaction, history=(*after.history, *reaction.history))
    # Each event has raised the version by one, but all go into one write, and the store accepts
    # only the version that follows the stored one.
    if after.job.version > job.version + 1:
        after = replace(after, job=replace(after.job, version=job.version + 1))
    return after
