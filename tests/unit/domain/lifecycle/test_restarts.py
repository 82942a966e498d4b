"""Who starts again after a loss: one replica in place, its echoes with it, then all of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from footplate.domain.errors import Code
from footplate.domain.job_states import Phase, State
from footplate.domain.jobs import Address, Exit, ExitKind, JobEvent, Replica, Scheduling
from footplate.domain.lifecycle import (
    Admitted,
    CancelRequested,
    Event,
    JudgementDue,
    ReplicaExited,
    ReplicaGone,
    ReplicaLost,
    ReplicaPreparing,
    ReplicaReady,
    ReplicaRunning,
    Start,
    Stop,
    awaited,
    commands,
    exit_analysis,
    react,
)
from footplate.domain.lifecycle.replica_losses import ECHO_S, MOST_ECHOES
from tests.support.jobs import make_job, make_spec

T0 = datetime(2026, 1, 2, tzinfo=UTC)
MASTER = "master-replica-0"
WORKER, SECOND = "worker-replica-0", "worker-replica-1"
EVALUATOR = "evaluator-replica-0"
OK = Exit(ExitKind.EXITED, 0)
RESET = Exit(ExitKind.EXITED, 1, "ConnectionResetError: by peer")
BUG = Exit(ExitKind.EXITED, 1, "ValueError: bad")
KILLED = Exit(ExitKind.SIGNALLED, 9)
SHUT_OUT = Exit(ExitKind.UNPREPARED, 0, "it can't use port 4001")


class Gang:
    """A running job, to which things happen a tenth of a second after each other."""

    def __init__(self, workers: int = 2, evaluators: int = 0, **limits: int | bool) -> None:
        scheduling = Scheduling(**limits)  # type: ignore[arg-type]  # the names are the fields'
        spec = make_spec(workers=workers, evaluators=evaluators, scheduling=scheduling)
        self.job = make_job(spec=spec)
        self.told: list[JobEvent] = []
        self.now = T0
        self.happen(Admitted(T0, {MASTER: ("0",)}))
        for name in self.job.spec.replica_names():
            self.come_up(name)

    def happen(self, event: Event) -> None:
        reaction = react(self.job, event)
        self.job = reaction.job
        self.told.extend(reaction.history)

    def find(self, name: str) -> Replica:
        return next(r for r in self.job.replicas if r.name == name)

    def tick(self) -> datetime:
        self.now += timedelta(seconds=0.1)
        return self.now

    def pass_(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def come_up(self, *names: str) -> None:
        for name in names:
            start = self.find(name)
            address = start.address or Address("127.0.0.1", 4000 + len(self.told))
            ready = ReplicaReady(
                self.tick(), self.job.attempt, name, address, restart=start.restart
            )
            self.happen(ready)
        for name in names:
            running = ReplicaRunning(
                self.tick(), self.job.attempt, name, restart=self.find(name).restart
            )
            self.happen(running)

    def exit(self, name: str, end: Exit) -> None:
        restart = self.find(name).restart
        self.happen(ReplicaExited(self.tick(), self.job.attempt, name, end, restart=restart))

    def go(self, *names: str) -> None:
        for name in names:
            gone = ReplicaGone(
                self.tick(), self.job.attempt, name, "lost", restart=self.find(name).restart
            )
            self.happen(gone)

    def lose(self, name: str) -> None:
        """Its supervisor, at first."""
        restart, reason = self.find(name).restart, "the replica's supervisor was lost"
        lost = ReplicaLost(self.tick(), self.job.attempt, name, reason, restart=restart)
        self.happen(lost)

    def end(self, name: str, how: Exit) -> None:
        self.exit(name, how)
        self.go(name)

    def wait(self) -> None:
        """Until a failure is judged."""
        self.pass_(ECHO_S)
        self.happen(JudgementDue(self.tick(), self.job.attempt))

    def events(self, kind: str) -> list[str]:
        return [event.message for event in self.told if event.kind == kind]


@pytest.mark.parametrize("lost", [MASTER, WORKER])
def test_a_lost_replica_starts_again_in_place(lost: str) -> None:
    gang = Gang()
    before = gang.find(lost)
    gang.end(lost, KILLED)

    after = gang.find(lost)
    assert (gang.job.state, gang.job.attempt) == (State.RUNNING, 1)
    assert commands(gang.job) == (Start(),)
    assert (after.phase, after.restart, after.exit) == (Phase.WAITING, 1, None)
    assert (after.address, after.devices) == (before.address, before.devices)
    [told] = gang.events("RESTART")
    assert told == (
        f"replica {lost} was killed by signal 9 (SIGKILL), which Footplate did not send; "
        "only this replica starts again, restart 1 of 5"
    )


@pytest.mark.parametrize(
    ("end", "message"),
    [
        (
            Exit(ExitKind.SIGNALLED, 2, "KeyboardInterrupt"),
            (
                "was killed by signal 2 (SIGINT), sent by the program itself: a "
                "KeyboardInterrupt that no Python code caught: KeyboardInterrupt"
            ),
        ),
        (
            Exit(ExitKind.SIGNALLED, 13),
            (
                "was killed by signal 13 (SIGPIPE), because the program wrote to a pipe that "
                "no process reads any more"
            ),
        ),
        (
            Exit(ExitKind.EXITED, 130),
            (
                "exited with code 130 (which often means that SIGINT killed a child process of "
                "the program)"
            ),
        ),
        (
            Exit(ExitKind.EXITED, 137),
            (
                "exited with code 137 (which often means that SIGKILL killed a child process of "
                "the program)"
            ),
        ),
        (
            Exit(ExitKind.EXITED, 143),
            (
                "exited with code 143 (which often means that SIGTERM killed a child process of "
                "the program)"
            ),
        ),
        (
            Exit(ExitKind.EXITED, 247),
            (
                "exited with code 247 (which often means that SIGKILL killed a child process of "
                "the program)"
            ),
        ),
        (Exit(ExitKind.EXITED, 255, "no data"), "exited with code 255: no data"),
        (Exit(ExitKind.EXITED, 200), "exited with code 200"),
    ],
)
def test_a_program_that_ends_itself_is_not_started_again(end: Exit, message: str) -> None:
    gang = Gang(workers=0)
    gang.end(MASTER, end)

    assert gang.job.ending is not None
    assert gang.job.ending.message.startswith(f"replica {MASTER} {message}")
    assert gang.events("RESTART") == []


@pytest.mark.parametrize("number", [1, 9, 10, 15])
def test_a_program_that_is_ended_from_outside_starts_again(number: int) -> None:
    gang = Gang(workers=0)
    gang.end(MASTER, Exit(ExitKind.SIGNALLED, number))

    assert gang.job.ending is None
    assert len(gang.events("RESTART")) == 1


def test_it_starts_again_only_when_nothing_is_left_of_it() -> None:
    gang = Gang()
    gang.exit(WORKER, KILLED)

    assert gang.find(WORKER).restart == 0


def test_a_lost_supervisor_is_a_reason_as_well() -> None:
    gang = Gang(workers=0)
    gang.go(MASTER)

    assert (gang.job.attempt, gang.find(MASTER).restart) == (1, 1)
    [told] = gang.events("RESTART")
    assert told.startswith(f"replica {MASTER} was lost: lost; ")


def test_a_loss_counts_before_what_is_left_has_been_cleared_up() -> None:
    """Else the judgement of an echo would come first."""
    gang = Gang()
    gang.lose(SECOND)
    gang.end(WORKER, RESET)
    gang.pass_(60)
    gang.wait()
    assert (gang.job.ending, gang.find(SECOND).restart, gang.find(WORKER).restart) == (None, 0, 0)

    gang.go(SECOND)
    assert (gang.find(SECOND).restart, gang.find(WORKER).restart) == (1, 1)
    assert gang.events("REPLICA_FAILED") == [
        f"replica {SECOND} was lost: the replica's supervisor was lost",
        f"replica {WORKER} exited with code 1: ConnectionResetError: by peer",
    ]


@pytest.mark.parametrize("end", [OK, BUG])
def test_what_a_lost_supervisor_has_left_may_tell_that_its_program_had_ended(end: Exit) -> None:
    gang = Gang(workers=0)
    gang.lose(MASTER)
    gang.end(MASTER, end)

    assert gang.job.state is (State.SUCCEEDED if end is OK else State.FAILED)


def test_one_lost_before_it_ran_has_not_run() -> None:
    job = make_job()
    for event in (Admitted(T0), ReplicaLost(T0, 1, MASTER, "lost")):
        job = react(job, event).job

    assert (job.state, job.start_time) == (State.PREPARING, None)


def test_reports_of_the_start_before_change_nothing() -> None:
    gang = Gang()
    gang.end(WORKER, KILLED)

    for late in (
        ReplicaRunning(gang.tick(), 1, WORKER),
        ReplicaExited(gang.tick(), 1, WORKER, BUG),
        ReplicaGone(gang.tick(), 1, WORKER, "lost"),
    ):
        assert react(gang.job, late).job is gang.job


def test_after_its_last_restart_all_start_again_and_then_none() -> None:
    gang = Gang(max_restarts=2, max_retries=1)
    for _ in range(2):
        gang.end(WORKER, KILLED)
        gang.come_up(WORKER)
    gang.exit(WORKER, KILLED)
    assert commands(gang.job) == (Stop(),)
    gang.go(MASTER, WORKER, SECOND)

    assert (gang.job.state, gang.job.attempt) == (State.PREPARING, 2)
    assert [(r.restart, r.losses) for r in gang.job.replicas] == [(0, 0), (0, 3), (0, 0)]

    gang.come_up(*gang.job.spec.replica_names())
    gang.end(SECOND, KILLED)
    gang.come_up(SECOND)
    assert gang.job.attempt == 2, "the others still have restarts of their own"
    gang.exit(WORKER, KILLED)
    gang.go(MASTER, WORKER, SECOND)

    assert gang.job.state is State.FAILED
    assert gang.job.ending is not None
    assert gang.job.ending.code is Code.ABORTED
    assert gang.job.ending.message.endswith("(attempt 2 was the last that the job allows)")


def test_where_all_restart_together_the_first_ones_are_no_retries() -> None:
    gang = Gang(max_restarts=2, max_retries=1, restarts_together=True)
    attempts = []
    for _ in range(4):
        gang.exit(WORKER, KILLED)
        assert commands(gang.job) == (Stop(),)
        gang.go(MASTER, WORKER, SECOND)
        attempts.append((gang.job.state, gang.job.attempt))
        if gang.job.state is State.PREPARING:
            gang.come_up(*gang.job.spec.replica_names())

    preparing = [(State.PREPARING, attempt) for attempt in (2, 3, 4)]
    assert attempts == [*preparing, (State.FAILED, 4)]


def test_without_retries_a_loss_is_the_end() -> None:
    gang = Gang(max_restarts=0, max_retries=0)
    gang.exit(WORKER, KILLED)
    gang.go(MASTER, WORKER, SECOND)

    assert gang.job.state is State.FAILED


@pytest.mark.parametrize("known", ["before", "after"])
def test_an_echo_starts_again_with_the_loss_and_uncounted(known: str) -> None:
    gang = Gang()
    order = [(SECOND, KILLED), (WORKER, RESET)]
    for name, end in order if known == "before" else reversed(order):
        gang.end(name, end)

    assert [(r.name, r.restart, r.losses) for r in gang.job.replicas] == [
        (MASTER, 0, 0),
        (WORKER, 1, 0),
        (SECOND, 1, 1),
    ]
    gang.wait()
    assert gang.job.ending is None
    assert "because another one did" in gang.events("RESTART")[-1]


def test_an_echo_waits_until_the_lost_one_is_on_its_way_back() -> None:
    gang = Gang()
    gang.exit(SECOND, KILLED)
    gang.pass_(60)
    gang.end(WORKER, RESET)
    gang.wait()
    assert (gang.find(WORKER).restart, gang.job.ending) == (0, None)

    gang.go(SECOND)
    assert (gang.find(WORKER).restart, gang.find(SECOND).restart) == (1, 1)


def test_a_failure_while_a_peer_is_coming_back_is_an_echo_however_long_that_takes() -> None:
    gang = Gang()
    gang.end(SECOND, KILLED)
    gang.pass_(600)
    gang.end(MASTER, RESET)
    assert (gang.find(MASTER).restart, gang.job.ending) == (1, None)

    gang.come_up(SECOND, MASTER)
    gang.pass_(ECHO_S + 1)
    gang.end(WORKER, BUG)
    gang.wait()
    assert gang.find(WORKER).judged, "its own failure, long after"


def test_one_that_came_back_may_fail_of_what_befell_the_others() -> None:
    gang = Gang()
    gang.end(SECOND, KILLED)
    gang.come_up(SECOND)
    gang.end(SECOND, RESET)

    assert (gang.find(SECOND).restart, gang.find(SECOND).losses) == (2, 1)


def test_peers_that_keep_failing_of_each_other_come_to_an_end() -> None:
    gang = Gang(workers=1)
    gang.end(WORKER, KILLED)
    gang.come_up(WORKER)
    for _ in range(MOST_ECHOES):
        gang.end(MASTER, RESET)
        gang.come_up(MASTER)
    gang.end(MASTER, RESET)
    gang.wait()

    assert gang.job.ending is not None
    assert gang.job.ending.message.startswith(f"replica {MASTER} exited with code 1")


def test_a_loss_that_counts_forgives_the_echoes_before() -> None:
    gang = Gang(workers=1)
    gang.end(WORKER, KILLED)
    gang.come_up(WORKER)
    for _ in range(MOST_ECHOES):
        gang.end(MASTER, RESET)
        gang.come_up(MASTER)
    gang.end(WORKER, KILLED)
    gang.come_up(WORKER)
    gang.end(MASTER, RESET)

    assert gang.find(MASTER).restart == MOST_ECHOES + 1


@pytest.mark.parametrize("end", [Exit(ExitKind.OUT_OF_MEMORY), Exit(ExitKind.TIME_LIMIT)])
@pytest.mark.parametrize("name", [MASTER, WORKER])
def test_what_no_peer_brings_about_is_permanent_around_a_loss_as_well(end: Exit, name: str) -> None:
    gang = Gang()
    gang.end(SECOND, KILLED)
    gang.exit(name, end)

    assert gang.job.ending is not None or gang.find(name).judged
    assert gang.find(name).restart == 0


def test_one_that_can_not_come_back_starts_all_again() -> None:
    gang = Gang()
    gang.end(WORKER, KILLED)
    gang.exit(WORKER, SHUT_OUT)
    assert commands(gang.job) == (Stop(),)
    gang.go(MASTER, WORKER, SECOND)

    assert (gang.job.state, gang.job.attempt) == (State.PREPARING, 2)
    assert all(r.address is None for r in gang.job.replicas)


def test_a_lost_evaluator_comes_back_too_and_excuses_nobody() -> None:
    gang = Gang(workers=1, evaluators=1, max_restarts=1)
    gang.end(EVALUATOR, KILLED)
    assert gang.find(EVALUATOR).restart == 1

    gang.end(WORKER, BUG)
    assert gang.find(WORKER).restart == 0
    gang.wait()
    assert gang.find(WORKER).judged


def test_an_evaluator_without_restarts_stays_away() -> None:
    gang = Gang(workers=1, evaluators=1, max_restarts=0)
    gang.end(EVALUATOR, KILLED)

    assert (gang.find(EVALUATOR).phase, gang.job.ending) == (Phase.GONE, None)
    assert exit_analysis.waiting_failure(gang.job) is None


def test_nobody_starts_again_in_a_job_that_ends() -> None:
    gang = Gang()
    gang.happen(CancelRequested(gang.tick()))
    gang.end(WORKER, KILLED)

    assert gang.find(WORKER).restart == 0


def test_one_lost_while_all_gather_gathers_again() -> None:
    job = make_job(spec=make_spec(workers=1))
    for event in (Admitted(T0), ReplicaGone(T0, 1, WORKER, "lost")):
        job = react(job, event).job

    assert (job.state, job.attempt) == (State.PREPARING, 1)
    assert [r.restart for r in job.replicas] == [0, 1]


def test_a_worker_that_ended_well_does_not_start_again() -> None:
    gang = Gang()
    gang.end(WORKER, OK)
    gang.end(SECOND, KILLED)

    assert (gang.find(WORKER).phase, gang.find(SECOND).restart) == (Phase.GONE, 1)


def test_a_failure_beside_a_lost_one_is_an_echo_however_many_there_were_before() -> None:
    """The loss counts, and forgives them; it only isn't cleared up yet."""
    gang = Gang(workers=1)
    gang.end(WORKER, KILLED)
    gang.come_up(WORKER)
    for _ in range(MOST_ECHOES):
        gang.end(MASTER, RESET)
        gang.come_up(MASTER)
    gang.pass_(600)
    gang.lose(WORKER)
    gang.end(MASTER, RESET)
    gang.wait()
    assert gang.job.ending is None

    gang.go(WORKER)
    assert (gang.find(MASTER).restart, gang.find(MASTER).echoes) == (MOST_ECHOES + 1, 1)


def test_what_was_an_echo_stays_one_when_the_lost_one_is_back_before_it_is_gone() -> None:
    gang = Gang()
    gang.end(SECOND, KILLED)
    gang.exit(WORKER, RESET)
    gang.pass_(60)
    gang.come_up(SECOND)
    gang.pass_(60)
    gang.wait()
    assert gang.job.ending is None

    gang.go(WORKER)
    assert (gang.find(WORKER).restart, gang.find(WORKER).losses) == (1, 0)


def test_one_that_comes_back_waits_for_the_echoes_of_its_loss() -> None:
    gang = Gang()
    gang.end(SECOND, KILLED)
    gang.exit(WORKER, RESET)
    assert awaited(gang.job) == (WORKER, SECOND)

    gang.go(WORKER)
    assert awaited(gang.job) == (WORKER, SECOND)


def test_one_that_failed_by_itself_is_not_waited_for() -> None:
    gang = Gang()
    gang.exit(WORKER, BUG)

    assert awaited(gang.job) == ()


def test_nobody_is_waited_for_once_the_end_is_decided() -> None:
    """An evaluator that comes back may still have work; those that were stopped have none."""
    gang = Gang(workers=1, evaluators=1)
    gang.end(EVALUATOR, KILLED)
    back = gang.find(EVALUATOR).restart
    gang.happen(ReplicaPreparing(gang.tick(), 1, EVALUATOR, restart=back))
    gang.exit(MASTER, OK)
    gang.end(WORKER, Exit(ExitKind.STOPPED))

    assert commands(gang.job) == (Stop(frozenset({MASTER, WORKER})),)
    assert awaited(gang.job) == ()


def test_an_evaluator_that_is_yet_to_start_again_does_so_in_its_grace() -> None:
    gang = Gang(workers=1, evaluators=1)
    gang.end(EVALUATOR, KILLED)
    gang.exit(MASTER, OK)

    assert commands(gang.job) == (Start(), Stop(frozenset({MASTER, WORKER})))


def test_where_all_restart_together_an_evaluator_does_so_alone() -> None:
    gang = Gang(workers=1, evaluators=1, restarts_together=True)
    gang.end(EVALUATOR, KILLED)

    assert (gang.find(EVALUATOR).restart, commands(gang.job)) == (1, (Start(),))


def test_one_that_is_ready_but_not_back_explains_failures_still() -> None:
    gang = Gang()
    gang.end(SECOND, KILLED)
    back = gang.find(SECOND)
    assert back.address is not None
    gang.happen(ReplicaReady(gang.tick(), 1, SECOND, back.address, restart=back.restart))
    gang.pass_(600)
    gang.end(MASTER, RESET)

    assert (gang.find(MASTER).restart, gang.job.ending) == (1, None)


def test_nobody_is_stopped_for_one_whose_program_may_have_ended_well() -> None:
    """What its supervisor has left tells; only then is it known whether the job goes on."""
    gang = Gang(max_restarts=0, max_retries=0)
    gang.lose(WORKER)
    assert (commands(gang.job), awaited(gang.job)) == ((Start(),), (WORKER,))

    gang.end(WORKER, OK)
    assert (commands(gang.job), awaited(gang.job)) == ((Start(),), ())
    gang.lose(SECOND)
    gang.exit(MASTER, KILLED)
    assert commands(gang.job) == (Stop(),), "whatever becomes of the one before"


@pytest.mark.parametrize("end", [KILLED, SHUT_OUT])
def test_an_evaluator_that_stays_away_keeps_no_echo_waiting(end: Exit) -> None:
    gang = Gang(workers=1, evaluators=1, max_restarts=1)
    gang.end(EVALUATOR, KILLED)
    gang.end(EVALUATOR, end)
    assert gang.find(EVALUATOR).phase is Phase.GONE

    gang.exit(MASTER, RESET)
    gang.end(WORKER, KILLED)
    gang.go(MASTER)
    assert (gang.find(MASTER).restart, gang.find(WORKER).restart) == (1, 1)
