"""Jobs of Ray as its API has them, and what their states mean."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from footplate.backends.engine.engine import EngineJob, JobPhase
from footplate.domain.formatting import last_line
from footplate.ports.backend import EndCause

UNKNOWN_NODES = "?"
PHASES = {
    "PENDING": JobPhase.WAITING,
    "RUNNING": JobPhase.RUNNING,
    "STOPPED": JobPhase.ENDED,
    "SUCCEEDED": JobPhase.ENDED,
    "FAILED": JobPhase.ENDED,
}
_OWN_ID = re.compile(r"[A-Za-z0-9_.-]+")
_TIMEOUT = "JOB_SUPERVISOR_ACTOR_START_TIMEOUT"
_REFUSALS = (_TIMEOUT, "JOB_SUPERVISOR_ACTOR_UNSCHEDULABLE", "RUNTIME_ENV_SETUP_FAILURE")
"""The types of errors before anything of a job has run."""
NO_ROOM = "Ray had no free resources for the replica's job for as long as it lets jobs wait"
_ENDS = {
    "STOPPED": ("the replica's job was stopped in Ray"),
    "SUCCEEDED": ("the replica's launcher has ended"),
}


@dataclass(frozen=True)
class Listing:
    """The records of a list, and a sentence on each one that can't be read."""

    records: tuple[Mapping[str, Any], ...]
    oddities: tuple[str, ...]


def find_records(said: object, prefix: str) -> Listing:
    """Returns the records of jobs whose ids begin with ``prefix``, from the API's list.

    Jobs without an id of their own are those of others' drivers. Raises TypeError if it isn't a
    list.
    """
    if not isinstance(said, list):
        raise TypeError("a list of jobs")
    found, oddities = [], []
    for record in said:
        if not isinstance(record, dict):
            oddities.append(
                f"Ray's list of jobs has an entry that is no job: {str(record)[:100]!r}"
            )
            continue
        name = record.get("submission_id")
        if not isinstance(name, str) or not name.startswith(prefix):
            continue
        if not _OWN_ID.fullmatch(name):  # it would be a part of paths of the API
            oddities.append(f"job {name[:200]!r} of Ray has an id that is none of this server's")
        elif isinstance(record.get("status"), str):
            found.append(record)
        else:
            status = str(record.get("status"))[:100]
            oddities.append(f"job {name[:200]} of Ray has the status {status!r}")
    return Listing(tuple(found), tuple(oddities))


def see_job(job: Mapping[str, Any], waiting: Mapping[str, Mapping[str, Any]]) -> EngineJob:
    """Returns a job from the API's form; waiting while its placement group waits."""
    name, status = str(job["submission_id"]), str(job["status"])
    phase = PHASES.get(status, JobPhase.WAITING)
    message = last_line(str(job.get("message") or ""))
    error = job.get("error_type") if status == "FAILED" else None
    group = waiting.get(name)
    if phase is JobPhase.RUNNING and group is not None:
        phase, reason = JobPhase.WAITING, _group_reason(group)
    elif phase is JobPhase.WAITING:
        reason = message or "the replica's job waits for Ray"
    else:
        reason = (NO_ROOM if error == _TIMEOUT else _ENDS.get(status)) or (
            f"the replica's job failed in Ray: {message}" * bool(message)
        )
    return EngineJob(
        id=name,
        name=name,
        phase=phase,
        reason="" if phase is JobPhase.RUNNING else reason,
        nodes=UNKNOWN_NODES if phase is JobPhase.ENDED else "",
        cause=_cause(status, str(job.get("message") or "")),
        refused=error in _REFUSALS,
        expired=error == _TIMEOUT,
    )


def _cause(status: str, message: str) -> EndCause:
    if status == "STOPPED":
        return EndCause.CANCELLED
    # Ray ends launchers where a node runs short of memory; the driver prints its error.
    ended = status == "FAILED" and "OutOfMemoryError" in message
    return EndCause.OUT_OF_MEMORY if ended else EndCause.UNKNOWN


def _group_reason(group: Mapping[str, Any]) -> str:
    given = group.get("bundles")
    bundles = given if isinstance(given, list) else []
    first = bundles[0].get("unit_resources") if bundles and isinstance(bundles[0], dict) else None
    amounts = ", ".join(_describe((first or {}).items()))
    wanted = f"{len(bundles)} times {{{amounts}}}" if bundles else "the job's replicas"
    return f"Ray has no free resources for {wanted} now"


def _describe(amounts: Iterable[tuple[str, Any]]) -> list[str]:
    return [
        f"{name} {amount:g}" for name, amount in sorted(amounts) if isinstance(amount, int | float)
    ]
