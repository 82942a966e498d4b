"""Decides whether a replica is there from what its launcher and the engine say."""

from __future__ import annotations

from typing import assert_never

from footplate.backends.engine.attempt import Attempt, Replica
from footplate.backends.engine.engine import EngineJob, JobPhase
from footplate.domain.launchers import LauncherReport, LauncherState
from footplate.ports.backend import Presence, ReplicaObservation

LOST = "the replica's supervisor was lost"


def observe(
    attempt: Attempt, replica: Replica, job: EngineJob | None, trouble: str
) -> ReplicaObservation:
    """Returns a replica's observed state.

    ``job`` is that of its allocation; ``trouble`` is what keeps the engine from running it.
    """
    presence, reason = _see(replica, job, trouble)
    claim = replica.claim or {}
    return ReplicaObservation(
        attempt.id,
        replica.name,
        presence,
        reason,
        replica.restart,
        engine_id=str(claim.get("job", "")),
        node=str(claim.get("node", "")),
        cause=replica.cause,
    )


def _see(replica: Replica, job: EngineJob | None, trouble: str) -> tuple[Presence, str]:
    if replica.gone is not None:
        return Presence.GONE, replica.gone
    report = current_report(replica)
    if report is not None and (seen := _reported(report)) is not None:
        return seen if seen[1] else (seen[0], _suspension(job))
    if replica.claim is not None:
        starts = f"the supervisor starts on node {replica.claim['node']} in a moment"
        return Presence.WAITING, _suspension(job) or starts
    return Presence.WAITING, trouble or _waits(job)


def current_report(replica: Replica) -> LauncherReport | None:
    """Returns the launcher's latest report on the replica's newest start; None if it made none."""
    report = replica.report
    return report if report is not None and report.restart == replica.restart else None


def _reported(report: LauncherReport) -> tuple[Presence, str] | None:
    match report.state:
        case LauncherState.IDLE:
            return None
        case LauncherState.STARTING:
            return Presence.WAITING, f"the replica's supervisor is starting on node {report.node}"
        case LauncherState.LIVE:
            return Presence.LIVE, ""
        case LauncherState.LOST:
            return Presence.LOST, LOST
        case LauncherState.GONE:  # of one that ends: the engine will say why
            return Presence.LOST, f"{LOST}: {report.ending}" if report.ending else LOST
        case _:
            assert_never(report.state)


def _suspension(job: EngineJob | None) -> str:
    return job.reason if job is not None and job.suspended else ""


def _waits(job: EngineJob | None) -> str:
    if job is None:
        return "the server submits the replica's job in a moment"
    if job.phase is JobPhase.RUNNING:
        return _suspension(job) or "the replica's launcher is starting"
    return job.reason or "the replica's job has ended"
