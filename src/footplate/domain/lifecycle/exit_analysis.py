"""Derives a job's end from the exits of its replicas, with the cause of a failure.

The end of the primary is the job's. A failure waits ``ECHO_S`` for the loss that it may be an echo
of to become known, unless nobody is left who could be lost. Then the primary's ends the job, and
another replica's is *judged*: the job goes on without it, until its primary ends, or all that
still run have fallen silent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from footplate.domain.errors import Code
from footplate.domain.formatting import listed
from footplate.domain.job_states import Phase, State
from footplate.domain.jobs import Ending, Exit, ExitKind, Job, Replica
from footplate.domain.lifecycle.replica_losses import (
    breaking_loss,
    failed,
    first,
    is_broken,
    is_echo,
    is_evaluator,
    matters,
)
from footplate.domain.lifecycle.signals import describe_sender, name_signal, read_code

_ENDED = (Phase.LOST, Phase.EXITED, Phase.GONE)


def waiting_failure(job: Job) -> Replica | None:
    """Returns the first failure that may still turn out to follow from a loss; None: none."""
    return first(waiting_failures(job))


def waiting_failures(job: Job) -> list[Replica]:
    if job.ending is not None or breaking_loss(job) is not None:
        return []
    return [r for r in failed(job) if not r.judged and not is_echo(job, r)]


def is_decisive(job: Job, failure: Replica) -> bool:
    """Returns whether a failure ends the job: the primary's, or one before the replica was ready.

    No program of a gang starts before the whole gang is ready, and a time limit is the whole job's.
    """
    end = failure.exit
    never_began = failure.address is None or (end and end.kind is ExitKind.UNPREPARED)
    over = end is not None and end.kind is ExitKind.TIME_LIMIT
    return failure.name == job.primary.name or bool(never_began) or over


def judged_failures(job: Job) -> list[Replica]:
    """Returns the failed replicas without which the job continues, as long as its primary does."""
    return sorted((r for r in job.replicas if r.judged), key=lambda replica: replica.ended_as)


def is_alone(job: Job, replica: Replica) -> bool:
    """Returns whether all other replicas have ended, so that none of them can be lost any more."""
    others = (r for r in job.replicas if r.name != replica.name and matters(job, r))
    return all(other.phase in _ENDED for other in others)


def lingering(job: Job) -> frozenset[str]:
    """Returns the evaluators that may continue for a while after the job has succeeded."""
    if job.ending is None or job.ending.state is not State.SUCCEEDED:
        return frozenset()
    running = (r.name for r in job.replicas if r.phase not in _ENDED and not r.overdue)
    return frozenset(name for name in running if is_evaluator(job, name))


def to_stop(job: Job) -> frozenset[str]:
    """Returns the replicas that should be ended: all, none, or all but lingering evaluators."""
    if job.ending is None and not is_broken(job):
        return frozenset()
    return frozenset(replica.name for replica in job.replicas) - lingering(job)


def unexpected_end(job: Job, replica: Replica) -> str | None:
    """Returns the message about a replica of a gang that has just ended; None: it ended normally.

    Failures are not reported once the job is ending, except those of evaluators that still had
    time.
    """
    if len(job.replicas) == 1:
        return None
    looks_on = not matters(job, replica)
    if _is_as_it_should_be(job, replica, looks_on=looks_on):
        return None
    end = told(replica)
    return f"{end}; {_LOOKS_ON}" if looks_on else end


def _is_as_it_should_be(job: Job, replica: Replica, *, looks_on: bool) -> bool:
    end = replica.exit
    if replica.phase is Phase.GONE and end is not None:
        return True
    if end is None or end.kind in (ExitKind.STOPPED, ExitKind.PREEMPTED):
        return _is_to_end(job, replica, looks_on=looks_on)
    if end.success or end.kind is ExitKind.TIME_LIMIT:
        return True
    return job.ending is not None and not looks_on


def _is_to_end(job: Job, replica: Replica, *, looks_on: bool) -> bool:
    """Returns whether a replica is expected to end for reasons outside its program."""
    if looks_on and job.ending is not None and job.ending.state is State.SUCCEEDED:
        return replica.overdue
    return job.ending is not None or breaking_loss(job) not in (None, replica)


_LOOKS_ON = "evaluators don't decide how a job ends"


def _follows(job: Job) -> str:
    return f"replica {job.primary.name} decides how the job ends"


def goes_on_without(job: Job, replica: Replica) -> str:
    """Returns the message about a failure that the job survives."""
    return f"the job goes on without replica {replica.name}, which failed; {_follows(job)}"


def explain_success(job: Job) -> str:
    """Returns a sentence on replicas that failed in a job that succeeded; empty: none did.

    Replicas, except evaluators, that fail after the primary's end fail because of that end; they
    don't count.
    """
    failures = [(r, r.exit) for r in job.replicas if r.exit is not None and _failed_beside(job, r)]
    failures.sort(key=lambda failure: failure[0].ended_as)
    if not failures:
        return ""
    replica, end = failures[0]
    others = [other.name for other, _ in failures[1:]]
    more = f"; {listed(others)} failed, too" if others else ""
    rule = _LOOKS_ON if is_evaluator(job, replica.name) else _follows(job)
    return with_advice(f"{told(replica)}{more}; {rule}", end)


_NOT_FAILED = (ExitKind.STOPPED, ExitKind.PREEMPTED, ExitKind.TIME_LIMIT)


def _failed_beside(job: Job, replica: Replica) -> bool:
    end = replica.exit
    if end is None or end.success or end.kind in _NOT_FAILED:
        return False
    return is_evaluator(job, replica.name) or replica.ended_as < job.primary.ended_as


def verdict(job: Job, failure: Replica, end: Exit) -> Ending:
    """Returns the ending that this exit causes; its message has earlier and later failures."""
    ending = ending_of(failure.name, end)
    if ending.state is not State.FAILED:
        return ending
    message = ending.message + _what_preceded(job, failure) + what_followed(job, failure)
    return Ending(ending.state, ending.code, with_advice(message, end))


def _what_preceded(job: Job, cause: Replica) -> str:
    """Describes earlier failures that the job survived; the first may be the real cause."""
    earlier = [r for r in judged_failures(job) if r.ended_as < cause.ended_as]
    if not earlier:
        return ""
    others = [r.name for r in earlier[1:]]
    return f"; before that, {told(earlier[0])}" + (
        f", and {listed(others)} failed, too" if others else ""
    )


def hung_verdict(job: Job, limit_s: float) -> Ending:
    """Returns the ending of a silent job; it names the failed replica that is waited for."""
    message = f"no program has printed, reported or written anything for {limit_s:g} s"
    for failure in judged_failures(job)[:1]:
        if failure.exit is not None:
            ending = ending_of(failure.name, failure.exit)
            said = f"{ending.message}{what_followed(job, failure)}; then {message}"
            return Ending(ending.state, ending.code, with_advice(said, failure.exit))
    return Ending(State.FAILED, Code.DEADLINE_EXCEEDED, message)


def with_advice(message: str, end: Exit) -> str:
    """Joins a message and the advice of an exit, if there is any."""
    return f"{message.rstrip('.')}. {end.advice.rstrip('.')}" if end.advice else message


def cause_of_loss(job: Job, loss: Replica) -> str:
    """Describes a loss, with the failures that followed from it, in one sentence."""
    return told(loss) + what_followed(job, loss)


def told(replica: Replica) -> str:
    """Describes the end of a replica, or its loss, in one sentence."""
    if replica.exit is None:
        return f"replica {replica.name} was lost: {replica.loss}"
    return describe(replica.name, replica.exit)


def what_followed(job: Job, cause: Replica) -> str:
    """Describes the other failures: ``; then replica NAME exited with code 1, as did 2 others``."""
    others = sorted(failed(job), key=lambda replica: replica.ended_as)
    ends = [
        (r.name, r.exit) for r in others if r.exit and r.name != cause.name and _is_news(r, cause)
    ]
    if not ends:
        return ""
    name, end = ends[0]
    return (
        f"; then {describe_briefly(name, end)}{_and_others(end, [other for _, other in ends[1:]])}"
    )


def _is_news(failure: Replica, cause: Replica) -> bool:
    """Returns whether a failure may follow from ``cause``; one that was judged before can't."""
    return not failure.judged or failure.ended_as > cause.ended_as


def _and_others(end: Exit, rest: Sequence[Exit]) -> str:
    if not rest:
        return ""
    count = "1 other" if len(rest) == 1 else f"{len(rest)} others"
    alike = all((other.kind, other.code) == (end.kind, end.code) for other in rest)
    return f", as did {count}" if alike and end.kind is ExitKind.EXITED else f", and {count} failed"


def ending_of(replica: str, end: Exit) -> Ending:
    """Returns how a job ends if this exit of this replica decides it."""
    match end.kind:
        case ExitKind.EXITED if end.code == 0:
            return Ending(State.SUCCEEDED)
        case ExitKind.TIME_LIMIT:
            return Ending(State.CANCELLED, Code.DEADLINE_EXCEEDED, describe(replica, end))
        case ExitKind.OUT_OF_MEMORY | ExitKind.OUT_OF_DISK:
            return Ending(State.FAILED, Code.RESOURCE_EXHAUSTED, describe(replica, end))
        case ExitKind.UNPREPARED:
            return Ending(State.FAILED, Code.FAILED_PRECONDITION, describe(replica, end))
        case ExitKind.EXITED | ExitKind.SIGNALLED:  # Google's code, a fault of the user's
            return Ending(State.FAILED, Code.INVALID_ARGUMENT, describe(replica, end))
        case ExitKind.STOPPED | ExitKind.PREEMPTED:
            return Ending(State.FAILED, Code.UNKNOWN, describe(replica, end))
        case _:
            assert_never(end.kind)


def describe_briefly(replica: str, end: Exit) -> str:
    """Describes an exit without its cause."""
    if end.kind is ExitKind.SIGNALLED:
        return f"replica {replica} was killed by signal {name_signal(end.code)}"
    return describe(replica, Exit(end.kind, end.code))


def describe(replica: str, end: Exit) -> str:
    """Describes the end of a replica's program in one sentence."""
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
            return f"the job was cancelled at the limit of its running time{because}"
        case ExitKind.OUT_OF_MEMORY:
            return f"replica {replica} was killed because memory ran out{because}"
        case ExitKind.OUT_OF_DISK:
            return f"replica {replica} was ended at the limit of its disk{because}"
        case ExitKind.STOPPED:
            return f"replica {replica} was stopped{because}"
        case ExitKind.PREEMPTED:
            return f"replica {replica} was preempted{because}"
        case _:
            assert_never(end.kind)
