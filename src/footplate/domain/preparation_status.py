"""Describes how far the preparation of a job is. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from footplate.domain.admission import Explanation
from footplate.domain.engine_events import engine_wait
from footplate.domain.job_states import Phase
from footplate.domain.jobs import Job, JobEvent, Replica

_KIND = "PREPARING"
_NAMED = 3
_UNREADY = (Phase.WAITING, Phase.PREPARING, Phase.LOST)


def explain_preparing(job: Job, events: Iterable[JobEvent], now: datetime) -> Explanation:
    """Explains a preparation: which replicas the job waits for, their progress, since when and why.

    ``events`` are the job's events, of which those of earlier attempts are ignored; ``now`` is on
    the same time scale.
    """
    reported: dict[str, str] = {}
    since = now
    events = tuple(events)
    waits = engine_wait(events, job.attempt)
    for event in events:
        if event.kind == _KIND and event.attempt == job.attempt:
            reported[event.replica] = event.message
            since = since if event.replica else event.time
    awaited = [replica for replica in job.replicas if replica.phase in _UNREADY]
    for_s = max(0, round((now - since).total_seconds()))
    doing = _describe(job.replicas, awaited, reported, waits)
    return Explanation(0, _KIND, f"Being prepared for {for_s} s: {doing}.")


def _describe(
    replicas: Sequence[Replica],
    awaited: Sequence[Replica],
    reported: dict[str, str],
    waits: str,
) -> str:
    if not awaited:
        return "the programs of the job are about to start"
    if len(replicas) == 1:
        return _stage(awaited[0], reported, waits)
    if waits and all(replica.phase is Phase.WAITING for replica in replicas):
        return f"none of the {len(replicas)} replicas has started; {waits}"
    named = [f"{each.name} ({_stage(each, reported, waits)})" for each in awaited[:_NAMED]]
    rest = len(awaited) - len(named)
    others = f" and {rest} other{'s' if rest > 1 else ''}" if rest else ""
    ready = len(replicas) - len(awaited)
    return (
        f"{ready} of {len(replicas)} replicas are ready; the job waits for "
        f"{', '.join(named)}{others}"
    )


def _stage(replica: Replica, reported: dict[str, str], waits: str) -> str:
    if replica.phase is Phase.WAITING:
        return waits or "the replica's supervisor has not started yet"
    if replica.phase is Phase.LOST:
        return "the replica's machine or supervisor was lost; the replica starts again"
    return reported.get(replica.name) or "the server looks for an environment that fits the replica"
