"""Derives a job's end from the exits of its replicas, with the cause of a failure.

A failure waits ``ECHO_S`` for the loss that it may be an echo of to become known, unless nobody is
left who could be lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from footplate.domain.errors import Code
from footplate.domain.job_states import Phase, State
from footplate.domain.jobs import Ending, Exit, ExitKind
from footplate.domain.lifecycle.replica_losses import (
    breaking_loss,
    failed,
    first,
    is_echo,
    is_evaluator,
    matters,
)
from footplate.domain.lifecycle.signals import describe_sender, name_signal, read_code

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.domain.jobs import Job, Replica

_ENDED = (Phase.LOST, Phase.EXITED, Phase.GONE)


def waiting_failure(job: Job) -> Replica | None:
    """The first replica that failed, while it isn't known yet whether that is an echo."""
    if job.ending is not None or breaking_loss(job) is not None:
        return None
    return first(replica for replica in failed(job) if not is_echo(job, replica))


def is_alone(job: Job, replica: Replica) -> bool:
    """Whether all others have ended, so that none of them can be lost any more."""
    others = (r for r in job.replicas if r.name != replica.name and matters(job, r))
    return all(other.phase in _ENDED for other in others)


def lingering(job: Job) -> frozenset[str]:
    """The evaluators that may continue for a while after the job has succeeded."""
    if job.ending is None or job.ending.state is not State.SUCCEEDED:
        return frozenset()
    running = (r.name for r in job.replicas if r.phase not in _ENDED and not r.overdue)
    return frozenset(name for name in running if is_evaluator(job, name))


def unexpected_end(job: Job, replica: Replica) -> str | None:
    """The message about a replica of a gang that has just ended; None: it ended normally.

    Failures while all is to end are not reported, but for evaluators that still had time.
    """
    if len(job.replicas) == 1:
        return None
    looks_on = not matters(job, replica)
    if _is_as_it_should_be(job, replica, looks_on=looks_on):
        return None
    end = told(replica)
    return f"{end}; evaluators don't decide how a job ends" if looks_on else end


def _is_as_it_should_be(job: Job, replica: Replica, *, looks_on: bool) -> bool:
    end = replica.exit
    if replica.phase is Phase.GONE and end is not None:
        return True
    if end is None or end.kind is ExitKind.STOPPED:
        return _is_to_end(job, replica, looks_on=looks_on)
    if end.success or end.kind is ExitKind.TIME_LIMIT:
        return True
    return job.ending is not None and not looks_on


def _is_to_end(job: Job, replica: Replica, *, looks_on: bool) -> bool:
    """Whether nobody wonders that a replica has ended without its program's doing."""
    if looks_on and job.ending is not None and job.ending.state is State.SUCCEEDED:
        return replica.overdue
    return job.ending is not None or breaking_loss(job) not in (None, replica)


def failed_evaluators(job: Job) -> str:
    """What to say of them at the end of a job that succeeded without them; empty: nothing."""
    failures = [
        (replica, replica.exit)
        for replica in job.replicas
        if replica.exit is not None
        and replica.exit.kind not in (ExitKind.STOPPED, ExitKind.TIME_LIMIT)
        and not replica.exit.success
        and is_evaluator(job, replica.name)
    ]
    if not failures:
        return ""
    replica, end = failures[0]
    more = f", and {len(failures) - 1} more failed" if len(failures) > 1 else ""
    said = f"{told(replica)}{more}; evaluators don't decide how a job ends"
    return with_advice(said, end)


def verdict(job: Job, failure: Replica, end: Exit) -> Ending:
    """The ending that this exit causes, with what followed."""
    ending = ending_of(failure.name, end)
    if ending.state is not State.FAILED:
        return ending
    message = ending.message + what_followed(job, failure)
    return Ending(ending.state, ending.code, with_advice(message, end))


def with_advice(message: str, end: Exit) -> str:
    """What happened comes first; then what may be done about it."""
    return f"{message.rstrip('.')}. {end.advice.rstrip('.')}" if end.advice else message


def cause_of_loss(job: Job, loss: Replica) -> str:
    """In one sentence, with the echoes."""
    return told(loss) + what_followed(job, loss)


def told(replica: Replica) -> str:
    """The end of a replica, or its loss, in one sentence."""
    if replica.exit is None:
        return f"replica {replica.name} was lost: {replica.loss}"
    return describe(replica.name, replica.exit)


def what_followed(job: Job, cause: Replica) -> str:
    """The other failures, briefly: ``; then replica NAME exited with code 1, as did 2 others``."""
    others = sorted(failed(job), key=lambda replica: replica.ended_as)
    ends = [(r.name, r.exit) for r in others if r.exit and r.name != cause.name]
    if not ends:
        return ""
    name, end = ends[0]
    return (
        f"; then {describe_briefly(name, end)}{_and_others(end, [other for _, other in ends[1:]])}"
    )


def _and_others(end: Exit, rest: Sequence[Exit]) -> str:
    if not rest:
        return ""
    count = "1 other" if len(rest) == 1 else f"{len(rest)} others"
    alike = all((other.kind, other.code) == (end.kind, end.code) for other in rest)
    return f", as did {count}" if alike and end.kind is ExitKind.EXITED else f", and {count} failed"


def ending_of(replica: str, end: Exit) -> Ending:
    """How a job ends whose fate is this exit of this replica."""
    match end.kind:
        case ExitKind.EXITED if end.code == 0:
            return Ending(State.SUCCEEDED)
        case ExitKind.TIME_LIMIT:
            return Ending(State.CANCELLED, Code.DEADLINE_EXCEEDED, describe(replica, end))
        case ExitKind.OUT_OF_MEMORY | ExitKind.OUT_OF_DISK:
            return Ending(State.FAILED, Code.RESOURCE_EXHAUSTED, describe(replica, end))
        case ExitKind.UNPREPARED:
            return Ending(State.FAILED, Code.FAILED_PRECONDITION, describe(replica, end))
        case ExitKind.EXITED | ExitKind.SIGNALLED | ExitKind.STOPPED:
            return Ending(State.FAILED, Code.UNKNOWN, describe(replica, end))
        case _:
            assert_never(end.kind)


def describe_briefly(replica: str, end: Exit) -> str:
    """Without its cause."""
    if end.kind is ExitKind.SIGNALLED:
        return f"replica {replica} was killed by signal {name_signal(end.code)}"
    return describe(replica, Exit(end.kind, end.code))


def describe(replica: str, end: Exit) -> str:
    """The end of a replica's program in one sentence."""
    because = f": {end.cause}" if end.cause else ""
    match end.kind:
        case ExitKind.EXITED:
            return f"replica {replica} exited with code {end.code}{read_code(end.code)}{because}"
        case ExitKind.SIGNALLED:
            sender = describe_sender(end.code)
            return (
                f"replica {replica} was killed by signal {name_signal(end.code)}, {sender}{because}"
            )
        case ExitKind.UNPREPARED:
            return f"replica {replica} could not be prepared{because}"
        case ExitKind.TIME_LIMIT:
            return f"cancelled at the running time limit of the job{because}"
        case ExitKind.OUT_OF_MEMORY:
            return f"replica {replica} was killed for want of memory{because}"
        case ExitKind.OUT_OF_DISK:
            return f"replica {replica} was ended at the limit of its disk{because}"
        case ExitKind.STOPPED:
            return f"replica {replica} was stopped{because}"
        case _:
            assert_never(end.kind)
