"""Notes in a job's events what an engine says: why replicas wait, and where they run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.engine_events import RUNS, WAITS
from footplate.domain.job_states import Phase
from footplate.domain.jobs import JobEvent
from footplate.ports.backend import Presence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from footplate.domain.jobs import Job
    from footplate.domain.names import JobUid
    from footplate.domain.sites import Site
    from footplate.ports.backend import ReplicaObservation
    from footplate.ports.store import Store

REPEAT_S = 600
"""A reason that comes again is noted again once in so long: engines go to and fro between some."""


class EngineNotes:
    """Records an engine's messages as events, and remembers them to write only changes."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._noted: dict[JobUid, dict[str, str]] = {}
        """The last key, by the kind and the replica of an event."""

    def note(
        self, job: Job, site: Site, seen: Mapping[str, ReplicaObservation], now: datetime
    ) -> None:
        """Records what the engine says of a job. Raises NotFound: the job was just deleted."""
        if site.engine is None or job.state.terminal:
            return
        noted = self._noted.setdefault(job.uid, {})
        fresh = []
        for event in (*_waits(job, seen, now), *_places(job, site.engine.title, seen, now)):
            place = f"{event.kind}/{event.replica}"
            if event.key is not None and noted.get(place) != event.key:
                noted[place] = event.key
                fresh.append(event)
        if fresh:
            self._store.append(job.uid, fresh)

    def forget(self, uid: JobUid) -> None:
        self._noted.pop(uid, None)


def _waits(job: Job, seen: Mapping[str, ReplicaObservation], now: datetime) -> Iterator[JobEvent]:
    """Yields the reason of the first waiting replica: usually all are in one engine job."""
    for replica in job.replicas:
        observation = seen.get(replica.name)
        waits = observation is not None and observation.presence is Presence.WAITING
        if observation is not None and waits and replica.phase is Phase.WAITING:
            if observation.reason:
                period = int(now.timestamp() // REPEAT_S)
                key = f"{WAITS}/{job.attempt}/{observation.reason}/{period}"
                yield JobEvent(now, WAITS, observation.reason, job.attempt, key=key)
            return


def _places(
    job: Job, title: str, seen: Mapping[str, ReplicaObservation], now: datetime
) -> Iterator[JobEvent]:
    for replica in job.replicas:
        observation = seen.get(replica.name)
        if observation is None or observation.presence is not Presence.LIVE:
            continue
        if observation.engine_id:
            on = f" on {observation.node}" if observation.node else ""
            text = f"the replica runs in job {observation.engine_id} of {title}{on}"
            key = f"{RUNS}/{job.attempt}/{replica.name}/{replica.restart}/{text}"
            yield JobEvent(now, RUNS, text, job.attempt, replica.name, key=key)
