"""The life of a job: a machine that tries everything."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from footplate.domain.errors import Code
from footplate.domain.job_states import Phase, State
from footplate.domain.jobs import Address, Exit, ExitKind, Job, Scheduling
from footplate.domain.lifecycle import (
    TRANSITIONS,
    Admitted,
    CancelRequested,
    Event,
    GraceExpired,
    HangExpired,
    JudgementDue,
    ReplicaEvent,
    ReplicaExited,
    ReplicaGone,
    ReplicaLost,
    ReplicaPreparing,
    ReplicaReady,
    ReplicaRunning,
    RunExpired,
    StartRefused,
    Stop,
    WaitExpired,
    commands,
    exit_analysis,
    react,
    replica_losses,
    to_stop,
)
from tests.support.jobs import make_job, make_spec
from tests.support.profiles import scaled

T0 = datetime(2026, 1, 2, tzinfo=UTC)

exits = st.builds(
    Exit,
    st.sampled_from(ExitKind),
    st.integers(0, 64),
    st.text(max_size=5),
)


class Life(RuleBasedStateMachine):
    """Any event at any time, late ones and nonsense included."""

    @initialize(
        workers=st.integers(0, 2),
        evaluators=st.integers(0, 1),
        restarts=st.integers(0, 2),
        retries=st.integers(0, 2),
        together=st.booleans(),
    )
    def make(
        self, workers: int, evaluators: int, restarts: int, retries: int, *, together: bool
    ) -> None:
        limits = Scheduling(max_restarts=restarts, max_retries=retries, restarts_together=together)
        spec = make_spec(workers=workers, evaluators=evaluators, scheduling=limits)
        self.job = make_job(spec=spec)
        self.now = T0
        self.preemptions = 0
        self.names = (*spec.replica_names(), "no-such-replica-7")

    def happen(self, event: Event) -> None:
        before = self.job
        reaction = react(before, event)
        self.job = reaction.job
        assert react(before, event) == reaction, "the same input gives the same output"
        if isinstance(event, ReplicaEvent) and not self.is_current(event, before):
            assert self.job is before, "a report of another start changes nothing"
        if self.job is before:
            assert reaction.history == ()
            return
        assert self.job.version == before.version + 1
        assert not before.state.terminal
        if self.job.state is not before.state:
            assert self.job.state in TRANSITIONS[before.state]
            assert reaction.history[-1].kind == self.job.state.value
        if before.ending is not None:
            assert self.job.ending == before.ending, "a decided end stays"
        if before.start_time is not None:
            assert self.job.start_time == before.start_time

    def is_current(self, event: ReplicaEvent, job: Job) -> bool:
        starts = {(job.attempt, replica.name, replica.restart) for replica in job.replicas}
        return (event.attempt, event.replica, event.restart) in starts

    def tick(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now

    @rule()
    def admitted(self) -> None:
        self.happen(Admitted(self.tick()))

    @rule(data=st.data(), kind=st.sampled_from([ReplicaPreparing, ReplicaRunning]))
    def moves(self, data: st.DataObject, kind: type[ReplicaPreparing | ReplicaRunning]) -> None:
        name, restart = self.start(data)
        self.happen(kind(self.tick(), self.attempt(data), name, restart=restart))

    @rule(data=st.data())
    def ready(self, data: st.DataObject) -> None:
        address = Address("127.0.0.1", 4000)
        name, restart = self.start(data)
        ready = ReplicaReady(self.tick(), self.attempt(data), name, address, restart=restart)
        self.happen(ready)

    @rule(data=st.data(), end=exits)
    def exited(self, data: st.DataObject, end: Exit) -> None:
        name, restart = self.start(data)
        self.preemptions += end.kind is ExitKind.PREEMPTED
        self.happen(ReplicaExited(self.tick(), self.attempt(data), name, end, restart=restart))

    @rule(data=st.data())
    def gone(self, data: st.DataObject) -> None:
        name, restart = self.start(data)
        self.happen(ReplicaGone(self.tick(), self.attempt(data), name, "gone", restart=restart))

    @rule(data=st.data())
    def lost(self, data: st.DataObject) -> None:
        name, restart = self.start(data)
        self.happen(ReplicaLost(self.tick(), self.attempt(data), name, "lost", restart=restart))

    @rule(event=st.sampled_from([CancelRequested, WaitExpired, RunExpired]))
    def asked(self, event: type[CancelRequested | WaitExpired | RunExpired]) -> None:
        self.happen(event(self.tick()))

    @rule(data=st.data())
    def hung(self, data: st.DataObject) -> None:
        self.happen(HangExpired(self.tick(), self.attempt(data), 900.0))

    @rule(data=st.data())
    def judged(self, data: st.DataObject) -> None:
        self.happen(JudgementDue(self.tick(), self.attempt(data)))

    @rule()
    def grace_is_over(self) -> None:
        self.happen(GraceExpired(self.tick()))
        assert not exit_analysis.lingering(self.job)

    @rule()
    def refused(self) -> None:
        self.happen(StartRefused(self.tick(), "refused"))

    def attempt(self, data: st.DataObject) -> int:
        return data.draw(st.sampled_from([self.job.attempt, self.job.attempt, 0, 1, 9]))

    def start(self, data: st.DataObject) -> tuple[str, int]:
        """A replica, and which start of it; mostly the current one."""
        name = data.draw(st.sampled_from(self.names))
        current = next((r.restart for r in self.job.replicas if r.name == name), 0)
        return name, data.draw(st.sampled_from([current, current, current, 0, current + 1]))

    @invariant()
    def record_makes_sense(self) -> None:
        job = self.job
        assert (job.end_time is not None) == job.state.terminal
        limits = job.spec.scheduling
        spare = [max(0, r.losses - limits.max_restarts) for r in job.replicas]
        assert sum(spare) <= limits.max_retries
        assert job.attempt <= 1 + sum(r.losses for r in job.replicas) + self.preemptions
        if job.state.terminal:
            assert commands(job) == ()
            assert job.ending is not None
            assert job.ending.state is job.state
            assert all(r.phase is Phase.GONE for r in job.replicas), "nothing is left"
            assert (job.ending.code is Code.OK) == (job.state is State.SUCCEEDED)
            assert job.start_time is not None or job.state is not State.SUCCEEDED
        if job.state is State.CANCELLING:
            assert commands(job) == (Stop(),)
        if job.state is State.QUEUED:
            assert (job.attempt, job.replicas) == (0, ())

    @invariant()
    def only_evaluators_of_a_success_may_stay(self) -> None:
        job = self.job
        if job.ending is None or job.state.terminal:
            return
        staying = {replica.name for replica in job.replicas} - to_stop(job)
        assert all(name.startswith("evaluator") for name in staying)
        assert not staying or job.ending.state is State.SUCCEEDED

    @invariant()
    def a_failure_waits_only_while_others_may_be_lost(self) -> None:
        failure = exit_analysis.waiting_failure(self.job)
        if failure is not None:
            assert any(r.exit is None for r in self.job.replicas if r is not failure)
            judged = react(self.job, JudgementDue(self.now, self.job.attempt)).job
            if judged.ending is not None:
                assert failure.name in judged.ending.message
            else:
                assert failure.name != self.job.primary.name
                assert any(r.name == failure.name and r.judged for r in judged.replicas)

    @invariant()
    def the_primary_decides(self) -> None:
        """What is judged of others ends nothing, and starts again with all others alone."""
        job = self.job
        primary = job.replicas[0] if job.replicas else None
        assert not any(r.judged and (r is primary or r.exit is None) for r in job.replicas)
        if primary and primary.exit and primary.exit.success:
            assert job.ending is not None or replica_losses.breaking_loss(job) is not None

    @invariant()
    def it_can_always_end(self) -> None:
        """From anywhere a cancel and the backend's confirmations lead to the end."""
        job = react(self.job, CancelRequested(self.now)).job
        for replica in job.replicas:
            gone = ReplicaGone(self.now, job.attempt, replica.name, "", restart=replica.restart)
            job = react(job, gone).job
        assert job.state.terminal


TestLife = Life.TestCase
TestLife.settings = settings(max_examples=scaled(120), stateful_step_count=30, deadline=None)
