"""How a gang ends: the first cause is told, echoes decide nothing, evaluators get their time."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest

from footplate.domain.errors import Code
from footplate.domain.job_states import State
from footplate.domain.jobs import Address, Exit, ExitKind, Job, JobEvent, JobSpec, Scheduling
from footplate.domain.lifecycle import (
    Admitted,
    CancelRequested,
    Event,
    GraceExpired,
    HangExpired,
    JudgementDue,
    ReplicaExited,
    ReplicaGone,
    ReplicaReady,
    ReplicaRunning,
    RunExpired,
    Start,
    Stop,
    commands,
    react,
    replica_losses,
)
from tests.support.jobs import make_custom_name, make_job, make_spec

T0 = datetime(2026, 1, 2, tzinfo=UTC)
MASTER = "master-replica-0"
WORKER, SECOND, THIRD = (f"worker-replica-{index}" for index in range(3))
EVALUATOR = "evaluator-replica-0"
OK = Exit(ExitKind.EXITED, 0)
RESET = Exit(ExitKind.EXITED, 1, "ConnectionResetError: by peer")
ABORTED = Exit(ExitKind.SIGNALLED, 6)
BUG = Exit(ExitKind.EXITED, 1, "ValueError: bad")
KILLED = Exit(ExitKind.SIGNALLED, 9)
STOPPED = Exit(ExitKind.STOPPED, 0, "the supervisor was asked to end the program")


def at(seconds: float) -> datetime:
    return T0 + timedelta(seconds=seconds)


class Gang:
    """A running job, to which things happen a second after each other."""

    def __init__(
        self,
        workers: int = 2,
        evaluators: int = 0,
        attempts: int = 4,
        ready: Collection[str] | None = None,
        restarts: int = 0,
        spec: JobSpec | None = None,
    ) -> None:
        """``ready``: of no others it is heard; None: of all."""
        limits = Scheduling(max_restarts=restarts, max_retries=attempts - 1)
        made = make_spec(workers=workers, evaluators=evaluators, scheduling=limits)
        self.job = make_job(spec=spec or made)
        self.told: list[JobEvent] = []
        self.seconds = 0.0
        self.happen(Admitted(T0))
        self.begin(self.job.spec.replica_names() if ready is None else ready)

    def begin(self, replicas: Collection[str] = ()) -> None:
        for number, name in enumerate(replicas or self.job.spec.replica_names()):
            address = Address("127.0.0.1", 4000 + number)
            self.happen(ReplicaReady(self.now(), self.job.attempt, name, address))
        for name in replicas or self.job.spec.replica_names():
            self.happen(ReplicaRunning(self.now(), self.job.attempt, name))

    def now(self) -> datetime:
        self.seconds += 1
        return at(self.seconds)

    def happen(self, event: Event) -> None:
        reaction = react(self.job, event)
        self.job = reaction.job
        self.told.extend(reaction.history)

    def exit(self, replica: str, end: Exit) -> None:
        self.happen(ReplicaExited(self.now(), self.job.attempt, replica, end))

    def go(self, *replicas: str, reason: str = "it ended") -> None:
        for replica in replicas:
            self.happen(ReplicaGone(self.now(), self.job.attempt, replica, reason))

    def wait(self) -> None:
        """Until a failure is judged."""
        self.happen(JudgementDue(self.now(), self.job.attempt))

    def all_go(self) -> None:
        self.go(*self.job.spec.replica_names())

    @property
    def message(self) -> str:
        assert self.job.ending is not None
        return self.job.ending.message

    def events(self, kind: str) -> list[str]:
        return [event.message for event in self.told if event.kind == kind]


def test_a_failure_waits_and_then_ends_the_job() -> None:
    gang = Gang()
    gang.exit(MASTER, BUG)
    assert (gang.job.state, gang.job.ending, commands(gang.job)) == (
        State.RUNNING,
        None,
        (Start(),),
    )

    gang.wait()
    assert commands(gang.job) == (Stop(),)
    gang.all_go()
    assert gang.job.state is State.FAILED
    assert gang.message == f"replica {MASTER} exited with code 1: ValueError: bad"


OUT_OF_MEMORY = Exit(ExitKind.OUT_OF_MEMORY, 0, "it held 2 GB", "use less")


@pytest.mark.parametrize("role", ["worker", "ps", "workerpool1", "workerpool2"])
@pytest.mark.parametrize("end", [BUG, ABORTED, OUT_OF_MEMORY])
def test_the_primary_decides_whatever_becomes_of_the_others(role: str, end: Exit) -> None:
    spec = make_spec(workers=2)
    pools = (spec.primary, replace(spec.pools[1], cluster_role=role, replica_prefix=role))
    gang = Gang(spec=replace(spec, pools=pools))
    failed = f"{role}-0"
    gang.exit(failed, end)
    gang.wait()
    gang.go(failed)
    assert (gang.job.state, gang.job.ending, commands(gang.job)) == (
        *(State.RUNNING, None),
        (Start(),),
    )
    assert gang.events("REPLICA_LEFT_OUT") == [
        (
            f"the job goes on without replica {failed}, which failed; replica {MASTER} decides "
            "how the job ends"
        )
    ]

    gang.exit(MASTER, OK)
    gang.all_go()
    assert gang.job.state is State.SUCCEEDED
    told = f"replica {failed} "
    assert gang.message.startswith(told)
    assert f"; replica {MASTER} decides how the job ends" in gang.message


def test_how_long_before_its_primary_a_replica_failed_makes_no_difference() -> None:
    """In the explanation either, and all that failed are named."""
    messages = set()
    for waits in (False, True):
        gang = Gang(workers=3)
        for name in (SECOND, WORKER, THIRD):
            gang.exit(name, BUG)
            if waits:
                gang.wait()
        gang.exit(MASTER, OK)
        gang.all_go()
        assert gang.job.state is State.SUCCEEDED
        messages.add(gang.message)

    told = f"replica {SECOND} exited with code 1: ValueError: bad; {WORKER}, {THIRD} failed, too; "
    assert messages == {told + f"replica {MASTER} decides how the job ends"}


def test_those_that_fail_because_the_primary_has_ended_are_not_told() -> None:
    gang = Gang()
    gang.exit(MASTER, OK)
    gang.exit(WORKER, RESET)
    gang.all_go()

    assert (gang.job.state, gang.message) == (State.SUCCEEDED, "")


def test_a_primary_that_fails_later_is_told_with_the_failure_before() -> None:
    gang = Gang(workers=3)
    gang.exit(WORKER, BUG)
    gang.wait()
    gang.exit(SECOND, ABORTED)
    gang.wait()
    gang.seconds = 1800.0
    gang.exit(MASTER, RESET)
    gang.exit(THIRD, RESET)
    gang.wait()
    gang.all_go()

    assert gang.job.state is State.FAILED
    assert gang.message == (
        f"replica {MASTER} exited with code 1: ConnectionResetError: by peer; "
        f"before that, replica {WORKER} exited with code 1: ValueError: bad, "
        f"and {SECOND} failed, too; then replica {THIRD} exited with code 1"
    )


def test_a_primary_that_can_not_go_on_without_a_failed_replica_ends_the_job() -> None:
    """It is known by its silence, and that of all others."""
    gang = Gang()
    gang.exit(WORKER, replace(BUG, advice="mend it"))
    gang.wait()
    gang.happen(HangExpired(gang.now(), 1, 600.0))
    assert commands(gang.job) == (Stop(),)
    gang.all_go()

    assert gang.job.ending is not None
    assert (gang.job.state, gang.job.ending.code) == (State.FAILED, Code.INVALID_ARGUMENT)
    assert gang.message == (
        f"replica {WORKER} exited with code 1: ValueError: bad; then no program has printed, "
        "reported or written anything for 600 s. mend it"
    )


def test_one_that_never_was_ready_ends_the_job_for_no_program_would_start() -> None:
    gang = Gang(ready=[MASTER, SECOND])
    gang.exit(WORKER, Exit(ExitKind.UNPREPARED, 0, "no such package"))
    gang.all_go()

    assert gang.job.state is State.FAILED
    assert gang.message == f"replica {WORKER} could not be prepared: no such package"


def test_a_loss_long_after_a_failure_brings_back_the_lost_replica_alone() -> None:
    gang = Gang(attempts=1, restarts=1)
    gang.exit(WORKER, BUG)
    gang.wait()
    gang.go(WORKER)
    gang.exit(SECOND, KILLED)
    gang.go(SECOND)

    restarts = {replica.name: replica.restart for replica in gang.job.replicas}
    assert restarts == {MASTER: 0, WORKER: 0, SECOND: 1}
    assert gang.job.ending is None


def test_a_new_attempt_has_all_replicas_again() -> None:
    gang = Gang()
    gang.exit(WORKER, BUG)
    gang.wait()
    gang.exit(SECOND, KILLED)
    gang.all_go()

    assert (gang.job.state, gang.job.attempt) == (State.PREPARING, 2)
    assert not any(replica.judged for replica in gang.job.replicas)
    [retry] = gang.events("RETRY")
    assert WORKER not in retry


def test_a_job_of_one_replica_is_judged_at_once() -> None:
    gang = Gang(workers=0)
    gang.exit(MASTER, BUG)

    assert gang.message == f"replica {MASTER} exited with code 1: ValueError: bad"
    assert gang.events("REPLICA_FAILED") == []


def test_a_failure_is_judged_at_once_when_nobody_is_left_to_be_lost() -> None:
    gang = Gang(evaluators=1)
    gang.exit(WORKER, OK)
    gang.exit(SECOND, BUG)
    assert gang.job.ending is None
    gang.exit(MASTER, RESET)

    assert SECOND in gang.message.split(";")[0], "the evaluator is not waited for"


@pytest.mark.parametrize("echo", [RESET, ABORTED])
@pytest.mark.parametrize("order", [*permutations([MASTER, WORKER, SECOND])])
def test_whoever_fails_around_a_loss_is_its_echo(echo: Exit, order: tuple[str, ...]) -> None:
    """Of three, any one is lost by a foreign signal, one fails before that and one after."""
    before, lost, later = order
    gang = Gang()
    gang.exit(before, echo)
    gang.exit(lost, KILLED)
    gang.exit(later, echo)
    assert commands(gang.job) == (Stop(),)
    gang.wait()
    gang.all_go()

    assert (gang.job.state, gang.job.attempt, gang.job.ending) == (State.PREPARING, 2, None)
    [retry] = gang.events("RETRY")
    assert retry.startswith(
        f"replica {lost} was killed by signal 9 (SIGKILL), which Footplate did not send; "
        f"then replica {before} "
    )
    assert retry.endswith("; the server starts all replicas again, as attempt 2")


@pytest.mark.parametrize("lost", [MASTER, WORKER, SECOND])
def test_a_lost_supervisor_has_echoes_too(lost: str) -> None:
    gang = Gang()
    before, later = (name for name in (SECOND, MASTER, WORKER) if name != lost)
    gang.exit(before, RESET)
    gang.go(lost, reason="the replica's supervisor was lost")
    gang.exit(later, STOPPED)
    gang.go(before, later)

    assert (gang.job.state, gang.job.attempt) == (State.PREPARING, 2)
    [retry] = gang.events("RETRY")
    told = (
        f"replica {lost} was lost: the replica's supervisor was lost; then replica {before} exited"
    )
    assert retry.startswith(told)


def test_the_last_attempt_ends_with_its_loss_and_not_with_an_echo() -> None:
    gang = Gang(attempts=1)
    gang.exit(MASTER, RESET)
    gang.exit(SECOND, KILLED)
    gang.exit(WORKER, RESET)
    gang.all_go()

    assert gang.job.state is State.FAILED
    assert gang.job.ending is not None
    assert gang.job.ending.code is Code.ABORTED
    assert gang.message == (
        f"replica {SECOND} was killed by signal 9 (SIGKILL), which Footplate did not send; "
        f"then replica {MASTER} exited with code 1, as did 1 other "
        "(the job allows no restart)"
    )


def test_the_first_of_several_failures_is_the_cause() -> None:
    gang = Gang(workers=3)
    gang.exit(SECOND, BUG)
    gang.exit(MASTER, RESET)
    gang.exit(THIRD, RESET)
    gang.exit(WORKER, RESET)

    assert gang.message == (
        f"replica {SECOND} exited with code 1: ValueError: bad; "
        f"then replica {MASTER} exited with code 1, as did 2 others"
    )


def test_failures_that_differ_are_only_counted() -> None:
    gang = Gang(workers=3)
    for replica, end in ((THIRD, BUG), (WORKER, ABORTED), (MASTER, RESET)):
        gang.exit(replica, end)
    gang.wait()

    assert gang.message.endswith(
        f"; then replica {WORKER} was killed by signal 6 (SIGABRT), and 1 other failed"
    )


def test_what_failed_first_is_told_by_order_and_not_by_clock() -> None:
    gang = Gang()
    gang.exit(SECOND, BUG)
    gang.seconds = -100.0
    gang.exit(MASTER, RESET)
    gang.wait()

    assert gang.message.startswith(f"replica {SECOND} ")


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (ExitKind.OUT_OF_MEMORY, Code.RESOURCE_EXHAUSTED),
        (ExitKind.OUT_OF_DISK, Code.RESOURCE_EXHAUSTED),
        (ExitKind.UNPREPARED, Code.FAILED_PRECONDITION),
        (ExitKind.TIME_LIMIT, Code.DEADLINE_EXCEEDED),
    ],
)
@pytest.mark.parametrize("loss", [None, KILLED])
def test_what_no_loss_brings_about_is_judged_at_once(
    kind: ExitKind, code: Code, loss: Exit | None
) -> None:
    gang = Gang()
    gang.exit(SECOND, loss or RESET)
    gang.exit(MASTER, Exit(kind))

    assert gang.job.ending is not None
    assert gang.job.ending.code is code


def test_the_success_of_the_primary_is_the_end_whatever_waits_to_be_judged() -> None:
    gang = Gang()
    gang.exit(WORKER, BUG)
    gang.exit(MASTER, OK)
    gang.wait()
    gang.all_go()

    assert gang.job.state is State.SUCCEEDED
    assert gang.events("REPLICA_FAILED") == [
        f"replica {WORKER} exited with code 1: ValueError: bad"
    ]


@pytest.mark.parametrize("asked", [CancelRequested, RunExpired])
def test_a_cancel_or_a_limit_comes_before_a_failure_that_is_not_judged_yet(
    asked: type[CancelRequested | RunExpired],
) -> None:
    gang = Gang()
    gang.exit(WORKER, BUG)
    gang.happen(asked(gang.now()))
    gang.wait()
    gang.all_go()

    assert gang.job.state is State.CANCELLED
    assert len(gang.events("REPLICA_FAILED")) == 1


def test_a_judgement_on_an_old_attempt_comes_too_late() -> None:
    gang = Gang()
    gang.exit(WORKER, KILLED)
    gang.all_go()
    gang.begin()
    gang.exit(WORKER, BUG)
    gang.happen(JudgementDue(gang.now(), 1))

    assert gang.job.ending is None


def test_what_fails_because_the_job_ends_is_not_told() -> None:
    gang = Gang()
    gang.exit(MASTER, BUG)
    gang.wait()
    gang.exit(WORKER, RESET)
    gang.exit(SECOND, STOPPED)

    assert len(gang.events("REPLICA_FAILED")) == 1


def test_a_failure_that_nobody_has_judged_is_the_end_once_all_are_gone() -> None:
    """That the evaluator is ready is heard late, and until then all waits for it."""
    gang = Gang(workers=1, evaluators=1, ready=(MASTER, WORKER))
    gang.exit(MASTER, BUG)
    gang.exit(WORKER, ABORTED)
    assert gang.job.ending is None
    gang.happen(ReplicaReady(gang.now(), 1, EVALUATOR, Address("127.0.0.1", 4002)))
    gang.exit(EVALUATOR, Exit(ExitKind.TIME_LIMIT))
    gang.all_go()

    assert gang.job.state is State.FAILED
    assert gang.message.startswith(f"replica {MASTER} exited with code 1: ValueError: bad; then")
    assert gang.events("RETRY") == []


def test_evaluators_go_on_for_a_while_after_the_success() -> None:
    gang = Gang(evaluators=1)
    gang.exit(MASTER, OK)
    assert commands(gang.job) == (Stop(frozenset({MASTER, WORKER, SECOND})),)
    gang.go(MASTER, WORKER, SECOND)
    assert not gang.job.state.terminal

    gang.happen(GraceExpired(gang.now()))
    assert commands(gang.job) == (Stop(),)
    gang.exit(EVALUATOR, STOPPED)
    gang.go(EVALUATOR)
    assert gang.job.state is State.SUCCEEDED
    assert gang.events("REPLICA_FAILED") == []
    assert gang.message == ""


def test_the_end_comes_earlier_when_evaluators_end_by_themselves() -> None:
    gang = Gang(evaluators=1)
    gang.exit(MASTER, OK)
    gang.exit(EVALUATOR, OK)
    assert commands(gang.job) == (Stop(),)
    gang.all_go()

    assert gang.job.state is State.SUCCEEDED


def test_a_cancel_ends_the_grace_and_not_the_success() -> None:
    gang = Gang(evaluators=1)
    gang.exit(MASTER, OK)
    gang.happen(CancelRequested(gang.now()))
    assert commands(gang.job) == (Stop(),)
    gang.all_go()

    assert gang.job.state is State.SUCCEEDED


@pytest.mark.parametrize("end", [BUG, CancelRequested(at(99))])
def test_there_is_no_grace_but_after_success(end: Exit | CancelRequested) -> None:
    gang = Gang(evaluators=1)
    if isinstance(end, Exit):
        gang.exit(MASTER, end)
        gang.wait()
    else:
        gang.happen(end)

    assert commands(gang.job) == (Stop(),)


@pytest.mark.parametrize("end", [BUG, KILLED, ABORTED, Exit(ExitKind.OUT_OF_MEMORY), None])
def test_an_evaluator_decides_nothing(end: Exit | None) -> None:
    gang = Gang(evaluators=1)
    if end is None:
        gang.go(EVALUATOR, reason="the replica's supervisor was lost")
    else:
        gang.exit(EVALUATOR, end)
        gang.go(EVALUATOR)
    gang.wait()
    assert (gang.job.ending, commands(gang.job)) == (None, (Start(),))
    [told] = gang.events("REPLICA_FAILED")
    assert EVALUATOR in told

    gang.exit(MASTER, OK)
    gang.all_go()
    assert (gang.job.state, gang.job.attempt) == (State.SUCCEEDED, 1)


def test_an_evaluator_that_fails_in_its_grace_changes_nothing() -> None:
    gang = Gang(evaluators=1)
    gang.exit(MASTER, OK)
    gang.exit(EVALUATOR, BUG)
    gang.all_go()

    assert gang.job.state is State.SUCCEEDED
    assert len(gang.events("REPLICA_FAILED")) == 1
    assert gang.message == (
        f"replica {EVALUATOR} exited with code 1: ValueError: bad; evaluators don't decide how a "
        "job ends"
    )
    assert gang.events("SUCCEEDED") == [gang.message]


@pytest.mark.parametrize("end", [None, STOPPED, KILLED])
def test_an_evaluator_that_is_lost_in_its_grace_is_told_of(end: Exit | None) -> None:
    gang = Gang(evaluators=1)
    gang.exit(MASTER, OK)
    if end is not None:
        gang.exit(EVALUATOR, end)
    gang.all_go()

    assert gang.job.state is State.SUCCEEDED
    [told] = gang.events("REPLICA_FAILED")
    assert told.startswith(f"replica {EVALUATOR} was ")


@pytest.mark.parametrize("end", [STOPPED, KILLED, BUG])
def test_each_unexpected_end_is_told_once(end: Exit) -> None:
    gang = Gang()
    gang.exit(WORKER, end)
    gang.go(WORKER)

    assert len(gang.events("REPLICA_FAILED")) == 1


def test_an_evaluator_whose_grace_is_over_ends_in_silence() -> None:
    gang = Gang(evaluators=1)
    gang.exit(MASTER, OK)
    gang.happen(GraceExpired(gang.now()))
    gang.exit(EVALUATOR, STOPPED)
    gang.all_go()

    assert gang.events("REPLICA_FAILED") == []


def test_a_gang_does_not_start_without_its_evaluator() -> None:
    def starting() -> Job:
        limits = Scheduling(max_restarts=0)
        spec = make_spec(evaluators=1, scheduling=limits)
        return react(make_job(spec=spec), Admitted(T0)).job

    lost = react(starting(), ReplicaGone(T0, 1, EVALUATOR, "lost")).job
    assert commands(lost) == (Stop(),)
    lost = react(lost, ReplicaGone(T0, 1, MASTER, "stopped")).job
    assert (lost.attempt, commands(lost)) == (2, (Start(),))

    unprepared = Exit(ExitKind.UNPREPARED, 0, "no Python 3.7 here")
    failed = react(starting(), ReplicaExited(T0, 1, EVALUATOR, unprepared)).job
    assert failed.ending is not None
    assert f"{EVALUATOR} could not be prepared" in failed.ending.message


@pytest.mark.parametrize(
    "end",
    [
        ReplicaGone(at(9), 1, EVALUATOR, "the replica's supervisor was lost"),
        ReplicaExited(at(9), 1, EVALUATOR, Exit(ExitKind.UNPREPARED, 0, "no memory to start it")),
    ],
)
def test_a_gang_runs_though_its_ready_evaluator_ends_before_it_starts(end: Event) -> None:
    """Else its running time would never begin to count."""
    spec = make_spec(workers=1, evaluators=1, scheduling=Scheduling(max_restarts=0))
    job = react(make_job(spec=spec), Admitted(T0)).job
    for number, name in enumerate(job.spec.replica_names()):
        job = react(job, ReplicaReady(T0, 1, name, Address("127.0.0.1", 4000 + number))).job
    for name in (MASTER, WORKER):
        job = react(job, ReplicaRunning(T0, 1, name)).job
    assert job.state is State.PREPARING

    job = react(job, end).job
    assert (job.state, job.start_time) == (State.RUNNING, end.at)


def test_the_evaluators_of_both_faces_are_known() -> None:
    for name in (None, make_custom_name()):
        job = make_job(spec=make_spec(name, workers=1, evaluators=1))
        names = job.spec.replica_names()
        assert [replica_losses.is_evaluator(job, name) for name in names] == [False, False, True]
