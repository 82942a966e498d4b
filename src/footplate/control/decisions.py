"""The one way a job changes: load, decide, write guarded by the version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.errors import Aborted
from footplate.domain.lifecycle import Event, Reaction, react

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.domain.jobs import JobEvent
    from footplate.domain.names import JobUid
    from footplate.ports.store import Store

TRIES = 20
"""Writers of one job are few: more collisions in a row than this mean a defect."""


def apply(store: Store, uid: JobUid, event: Event, notes: Sequence[JobEvent] = ()) -> Reaction:
    """Let ``event`` happen to the job; a write by somebody else means: load and decide again.

    ``notes`` are written before what follows from it, in the same write, and also if nothing does.

    Raises:
        NotFound: there is no such job (any more).
        Aborted: others kept writing; nothing was changed.
    """
    for _ in range(TRIES):
        job = store.get_by_uid(uid)
        reaction = react(job, event)
        if reaction.job is job:
            if notes:
                store.append(uid, notes)
            return reaction
        try:
            store.update(reaction.job, (*notes, *reaction.history))
        except Aborted:
            continue
        return reaction
    raise Aborted(f"job {uid} is being changed by others all the time; try again")
