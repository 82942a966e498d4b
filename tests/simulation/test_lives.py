"""Thousands of lives: whatever dies whenever, each job ends once and rightly, nothing is lost."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from footplate.domain.errors import Code
from footplate.domain.job_states import State
from footplate.domain.jobs import Exit, ExitKind, Job, JobEvent
from footplate.domain.lifecycle import TRANSITIONS
from footplate.domain.lifecycle.replica_losses import MOST_ECHOES
from footplate.domain.log_lines import restart_of
from footplate.domain.replica_records import EventRecord, LineRecord
from tests.support.profiles import scaled
from tests.support.shares import MORE
from tests.support.simulator import World, live
from tests.support.simulator.supervisor import Supervisor
from tests.support.simulator.world import PROJECTS

LIVES = scaled(800)
DEAF_LIVES = scaled(200)
BATCHES = 10
EACH_TIME = 5
"""So many batches are in each run, and the others are in a share of the long tests."""
DEAF_BATCHES = 3
STATES = {state.value for state in State}
NEVER_STARTED = (ExitKind.UNPREPARED,)
ENDED_WELL = Exit(ExitKind.EXITED, 0)


def attempt_of(supervisor: Supervisor) -> int:
    return int(supervisor.attempt_id.rpartition("-")[2])


def name_by_turn(batch: int) -> str:
    return str(batch) if batch < EACH_TIME else f"{MORE}{batch}"


@pytest.mark.parametrize("batch", range(BATCHES), ids=name_by_turn)
def test_lives(batch: int) -> None:
    crashes = takeovers = 0
    for seed in range(batch, LIVES, BATCHES):
        world = live(seed)
        try:
            check(world)
        except AssertionError as error:
            error.add_note(f"seed {seed}")
            raise
        crashes += world.crash_point.crashes
        takeovers += world.takeovers
    assert takeovers > LIVES // BATCHES // 2, "servers have woken up late often enough, too"
    assert crashes > LIVES // BATCHES, "the service has died often enough to prove anything"


@pytest.mark.parametrize("batch", range(DEAF_BATCHES))
def test_lives_in_which_news_is_lost_on_its_way(batch: int) -> None:
    """No job waits for a message that doesn't come: sooner or later everything is looked at."""
    for seed in range(batch, DEAF_LIVES, DEAF_BATCHES):
        world = live(seed, deaf=0.3)
        try:
            check(world)
        except AssertionError as error:
            error.add_note(f"seed {seed}")
            raise


def all_jobs(world: World) -> list[Job]:
    collections = [f"projects/{project}/jobs" for project in PROJECTS]
    pages = (world.store.list(c, where=None, limit=1000, after=None) for c in collections)
    return [job for page in pages for job in page.jobs]


def check(world: World) -> None:
    assert world.backend.list() == (), "everything is forgotten in the end"
    for job in all_jobs(world):
        supervisors = [s for s in world.history if s.attempt_id.rpartition("-")[0] == job.uid]
        check_states(world, job)
        check_attempts(job, supervisors)
        check_outcome(job, supervisors)
        check_causes(world, job, supervisors)
        check_lines(world, job, supervisors)
        check_events(world, job, supervisors)


def check_states(world: World, job: Job) -> None:
    """The history is a way through the table, and ends where the record is."""
    events = [stored.event for stored in world.store.events(job.uid)]
    states = [State(e.kind) for e in events if e.kind in STATES and not e.replica]
    assert states[0] is State.QUEUED
    assert states[-1] is job.state
    assert job.state.terminal
    for before, after in pairwise(states):
        assert after in TRANSITIONS[before], f"{before} to {after}"


def check_attempts(job: Job, supervisors: list[Supervisor]) -> None:
    """Each start had one supervisor at most, and there were as many starts as are allowed."""
    assert len({s.bearer for s in supervisors}) == len(supervisors)
    attempts = sorted({attempt_of(s) for s in supervisors})
    limits = job.spec.scheduling
    retries = sum(max(0, replica.losses - limits.max_restarts) for replica in job.replicas)
    assert retries <= limits.max_retries
    losses = sum(replica.losses for replica in job.replicas)
    assert job.attempt <= 1 + losses + sum(s.preempted for s in supervisors)
    assert job.attempt >= max(attempts, default=0)
    if job.state is not State.CANCELLED:
        assert attempts == list(range(1, job.attempt + 1)), "no attempt is spent on nothing"


def check_outcome(job: Job, supervisors: list[Supervisor]) -> None:
    """A job ends as the programs of its last attempt do, above all that of its primary."""
    last = [s for s in last_starts(supervisors).values() if attempt_of(s) == job.attempt]
    wells = [s for s in last if s.last == ENDED_WELL]
    primary = job.spec.replica_names()[0]
    if job.state is State.SUCCEEDED:
        assert any(s.replica == primary for s in wells)
    if job.state is State.FAILED:
        assert job.ending is not None
        assert job.ending.message
        assert len(wells) < len(job.spec.replica_names()), "not all of it went well"


def check_causes(world: World, job: Job, supervisors: list[Supervisor]) -> None:
    """Replicas start again after a loss only, and a job fails by a program of its own.

    Never by an echo, but for one that has been an echo too often. A primary may fail because of a
    replica that it went on without: then that one is told, too.
    """
    who = last_starts(supervisors)
    events = [stored.event for stored in world.store.events(job.uid)]
    for event in events:
        if event.kind == "RETRY":
            assert event.message.startswith(f"replica {event.replica} ")
            check_loss(who[event.attempt, event.replica])
    check_restarts(supervisors, [event for event in events if event.kind == "RESTART"])
    if job.state is State.FAILED and job.ending is not None:
        _, _, earlier = job.ending.message.partition("; before that, ")
        cause = who[job.attempt, (earlier or job.ending.message).split()[1]]
        if job.ending.code is Code.ABORTED:
            check_loss(cause)
        else:
            check_failure(cause)


def last_starts(supervisors: list[Supervisor]) -> dict[tuple[int, str], Supervisor]:
    """Of each replica in each attempt."""
    return {(attempt_of(s), s.replica): s for s in sorted(supervisors, key=lambda s: s.restart)}


def check_restarts(supervisors: list[Supervisor], events: list[JobEvent]) -> None:
    """Each restart follows an end that is told: a loss, or a failure of that time."""
    starts = {(attempt_of(s), s.replica, s.restart): s for s in supervisors}
    told: Counter[tuple[int, str]] = Counter()
    for event in events:
        key = event.attempt, event.replica
        before = starts[*key, told[key]]
        told[key] += 1
        if "because another one did" in event.message:
            assert before.last is not None
            assert not before.last.success
            assert not before.lost
            assert before.restart or any(s.lost for s in supervisors)
        else:
            assert before.lost, f"{before.replica} is told as lost"
    assert all(restart <= told[attempt, name] for attempt, name, restart in starts)


def check_loss(supervisor: Supervisor) -> None:
    shut_out = supervisor.restart and supervisor.last and supervisor.last.kind in NEVER_STARTED
    assert supervisor.lost or shut_out, f"{supervisor.replica} is told as lost"
    assert not supervisor.evaluates or not supervisor.ready or supervisor.restart


def check_failure(supervisor: Supervisor) -> None:
    assert supervisor.last is not None
    assert not supervisor.lost
    if supervisor.restart < MOST_ECHOES:
        assert not supervisor.echoes, "an echo is told as the cause"
        assert supervisor.last == supervisor.end
    assert not supervisor.evaluates or not supervisor.ready or supervisor.restart


def check_lines(world: World, job: Job, supervisors: list[Supervisor]) -> None:
    """Every line that was acknowledged is kept: once, in order, and no other."""
    kept = world.logs.read(job.uid, 0, 100_000).entries
    for supervisor in supervisors:
        start = attempt_of(supervisor), supervisor.replica, supervisor.restart
        mine = [e for e in kept if (e.attempt, e.replica, restart_of(e.line.sequence)) == start]
        kept_here = [r.sequence for r in supervisor.kept() if isinstance(r, LineRecord)]
        assert [e.line.sequence for e in mine] == kept_here
    assert [e.timestamp for e in kept] == sorted(e.timestamp for e in kept)


def check_events(world: World, job: Job, supervisors: list[Supervisor]) -> None:
    """A report that came twice is one event; its key begins with the attempt's number."""
    keys = [s.event.key for s in world.store.events(job.uid) if s.event.key]
    assert len(keys) == len(set(keys))
    reported = [r for s in supervisors for r in s.kept() if isinstance(r, EventRecord)]
    assert len([key for key in keys if key.partition("/")[0].isdigit()]) == len(reported)


def test_a_seed_lives_the_same_life_again() -> None:
    first, second = live(7), live(7)

    assert first.history == second.history
    assert first.store.active() == second.store.active()
