"""Tells losses of replicas from failures, and failures from their echoes on other replicas.

A replica is *lost* when it ends by no doing of its program: a foreign signal, a stop that nobody
asked for, the death of its supervisor or machine. It starts again, in place or with its whole
gang. Its peers' programs fail within seconds of that ("connection reset"), often before the loss
is known: such failures are *echoes*, and those replicas start again with it, uncounted.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from footplate.domain.cluster_roles import ClusterRole, role_of
from footplate.domain.job_states import Phase
from footplate.domain.jobs import Exit, ExitKind, Job, Replica
from footplate.domain.lifecycle.signals import OWN_SIGNALS

ECHO_S = 5.0
"""How long before and after a loss the failures of others are its echoes.

Programs notice a lost peer within seconds. A longer time would delay each failure of a gang: it
isn't judged before.
"""

MOST_ECHOES = 3
"""How often a replica may fail as an echo between two losses: peers that keep failing because of
each other must come to an end."""

_DOWN = (Phase.WAITING, Phase.PREPARING, Phase.READY)


def is_evaluator(job: Job, replica: str) -> bool:
    pools = (pool for name, pool, _ in job.spec.replicas() if name == replica)
    return any(role_of(pool) is ClusterRole.EVALUATOR for pool in pools)


def matters(job: Job, replica: Replica) -> bool:
    """Returns whether the end of this replica affects the job's end.

    The end of an evaluator doesn't, unless it never got ready: then no program of the gang starts.
    """
    return replica.address is None or not is_evaluator(job, replica.name)


def is_loss(end: Exit) -> bool:
    """Returns whether an exit is a loss: death by a signal that the program didn't cause itself.

    All other ends are the program's own, except STOPPED and PREEMPTED: a supervisor stops for
    anyone who asks, so the service didn't cause the stop of a job that isn't ending.
    """
    if end.kind in (ExitKind.STOPPED, ExitKind.PREEMPTED):
        return True
    return end.kind is ExitKind.SIGNALLED and end.code not in OWN_SIGNALS


def is_lost(replica: Replica) -> bool:
    if replica.exit is None:
        return replica.phase in (Phase.LOST, Phase.GONE)
    return is_loss(replica.exit) or _is_shut_out(replica)


def _is_shut_out(replica: Replica) -> bool:
    """Returns whether a replica that ran before can't restart: its address is taken, say."""
    end = replica.exit
    return replica.restart > 0 and end is not None and end.kind is ExitKind.UNPREPARED


def may_restart(job: Job, replica: Replica) -> bool:
    """Returns whether a lost replica restarts in place."""
    limits = job.spec.scheduling
    if _is_shut_out(replica) or (limits.restarts_together and matters(job, replica)):
        return False
    return replica.losses < limits.max_restarts


def is_counted(job: Job, loss: Replica) -> bool:
    """Returns whether a loss spends one of the job's restarts; preemption doesn't.

    It makes the same replicas start again as any other loss: the gang may have been stopped before
    the engine says why. So a job that allows no restart at all gets none either.
    """
    preempted = loss.exit is not None and loss.exit.kind is ExitKind.PREEMPTED
    limits = job.spec.scheduling
    return not preempted or limits.max_restarts + limits.max_retries == 0


def explains(replica: Replica, end: Exit) -> bool:
    """Returns whether ``end``, of an engine, explains the exit that a supervisor reported.

    The supervisor sees only that it is asked to stop, or that a signal ended the program.
    """
    known, named = replica.exit, (ExitKind.TIME_LIMIT, ExitKind.OUT_OF_MEMORY, ExitKind.PREEMPTED)
    if known is None or known.kind in named or replica.phase is not Phase.EXITED:
        return False
    return end.kind in named and is_loss(known)


def awaited(job: Job) -> tuple[str, ...]:
    """Returns the replicas that aren't ready yet: at first all, later those that restart.

    Once the job's end is decided, the result is empty.
    """
    if job.ending is not None:
        return ()
    return tuple(r.name for r in job.replicas if _is_awaited(job, r))


def _is_awaited(job: Job, replica: Replica) -> bool:
    if replica.address is None or replica.phase in (Phase.WAITING, Phase.PREPARING):
        return True
    if replica.phase is Phase.LOST and matters(job, replica):
        return True
    return is_echo(job, replica) or (is_lost(replica) and may_restart(job, replica))


def first(replicas: Iterable[Replica]) -> Replica | None:
    """Returns the replica whose end became known first; None: there are no replicas."""
    return min(replicas, key=lambda replica: replica.ended_as, default=None)


def breaking_loss(job: Job) -> Replica | None:
    """Returns the first loss that ends the attempt; None: the attempt continues."""
    return first(replica for replica in job.replicas if _breaks(job, replica))


def is_broken(job: Job) -> bool:
    """Returns whether a loss surely ends the attempt; a LOST program may yet have succeeded."""
    return any(_breaks(job, r) and r.phase is not Phase.LOST for r in job.replicas)


def _breaks(job: Job, replica: Replica) -> bool:
    return is_lost(replica) and matters(job, replica) and not may_restart(job, replica)


def failed(job: Job) -> list[Replica]:
    """Returns the replicas whose failures matter, whether their own or echoes of other losses."""
    return [r for r in job.replicas if _fails(r) and matters(job, r)]


def _fails(replica: Replica) -> bool:
    return replica.exit is not None and not replica.exit.success and not is_lost(replica)


def may_be_echo(end: Exit) -> bool:
    """Returns whether a program may end like this because a peer is lost.

    Running out of memory or of time, or never starting, is never a peer's fault.
    """
    if end.kind is ExitKind.EXITED:
        return end.code != 0
    return end.kind is ExitKind.SIGNALLED and not is_loss(end)


def is_echo(job: Job, replica: Replica) -> bool:
    """Returns whether this failure is an echo of another one, as far as is known by now."""
    end, at = replica.exit, replica.ended_at
    if end is None or at is None or not may_be_echo(end) or not matters(job, replica):
        return False
    # All replicas start again, so every failure of this attempt counts as an echo, however late. A
    # program that really fails does so again.
    if breaking_loss(job) is not None:
        return True
    if replica.judged:
        return False
    gang = [other for other in job.replicas if matters(job, other)]
    if any(is_lost(other) for other in gang):
        return True
    return replica.echoes < MOST_ECHOES and any(_upsets(other, at) for other in gang)


def _upsets(replica: Replica, at: datetime) -> bool:
    """Returns whether the loss or restart of a replica explains a failure at the time ``at``."""
    if replica.restart and replica.phase in _DOWN:
        return True
    known = replica.upset_at
    return known is not None and abs((at - known).total_seconds()) <= ECHO_S
