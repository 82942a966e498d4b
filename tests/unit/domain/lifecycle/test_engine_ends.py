"""What an engine's word on the end of a replica means for its job."""

from __future__ import annotations

import pytest

from footplate.domain.errors import Code
from footplate.domain.job_states import Phase, State
from footplate.domain.jobs import Exit, ExitKind
from footplate.domain.lifecycle import Start, commands
from tests.unit.domain.lifecycle.test_restarts import BUG, KILLED, MASTER, OK, WORKER, Gang

STOPPED = Exit(ExitKind.STOPPED)
TAKEN = Exit(ExitKind.PREEMPTED, cause="Slurm gave the nodes of the job to another one")
LIMIT = Exit(ExitKind.TIME_LIMIT, cause="Slurm ended the job at the time limit of its partition")
MEMORY = Exit(ExitKind.OUT_OF_MEMORY, cause="the job used more memory than Slurm gave it")


def end_by_engine(gang: Gang, name: str, how: Exit, seen: Exit | None = STOPPED) -> None:
    """``seen`` is what the supervisor reports, if it still can; then the engine has its word."""
    if seen is not None:
        gang.exit(name, seen)
    gang.end(name, how)


@pytest.mark.parametrize("seen", [STOPPED, KILLED, None])
def test_preemption_spends_no_restart(seen: Exit | None) -> None:
    gang = Gang(workers=0, max_restarts=1, max_retries=0)
    for restart in range(1, 6):
        end_by_engine(gang, MASTER, TAKEN, seen)
        back = gang.find(MASTER)
        assert (back.phase, back.restart, back.losses) == (Phase.WAITING, restart, 0)
        assert commands(gang.job) == (Start(),)
        gang.come_up(MASTER)
    assert gang.events("RESTART")[0] == (
        f"replica {MASTER} was preempted: Slurm gave the nodes of the job to another one; "
        "only this replica starts again; this counts as no restart"
    )


def test_preemption_of_a_gang_that_restarts_together_spends_no_restart() -> None:
    gang = Gang(workers=1, max_restarts=0, max_retries=1, restarts_together=True)
    for attempt in (2, 3, 4):
        for name in (MASTER, WORKER):
            gang.exit(name, STOPPED)
        for name in (MASTER, WORKER):
            gang.end(name, TAKEN)
        assert (gang.job.attempt, gang.job.ending) == (attempt, None)
        gang.come_up(MASTER, WORKER)
    assert "was preempted" in gang.events("RETRY")[0]


def test_a_gang_without_restarts_left_comes_back_after_preemption() -> None:
    gang = Gang(workers=1, max_restarts=1, max_retries=0)
    gang.end(WORKER, KILLED)
    gang.come_up(WORKER)
    for name in (MASTER, WORKER):
        gang.exit(name, STOPPED)
    for name in (MASTER, WORKER):
        gang.end(name, TAKEN)
    assert (gang.job.state, gang.job.attempt, gang.job.ending) == (State.PREPARING, 2, None)
    assert [replica.losses for replica in gang.job.replicas] == [0, 1]


def test_a_job_that_allows_no_restart_ends_with_preemption() -> None:
    gang = Gang(workers=0, max_restarts=0, max_retries=0)
    end_by_engine(gang, MASTER, TAKEN)
    assert gang.job.ending is not None
    assert (gang.job.state, gang.job.ending.code) == (State.FAILED, Code.ABORTED)
    assert gang.job.ending.message == (
        f"replica {MASTER} was preempted: Slurm gave the nodes of the job to another one "
        "(the job allows no restart)"
    )


@pytest.mark.parametrize("seen", [STOPPED, KILLED, None])
@pytest.mark.parametrize(
    ("how", "state", "code", "message"),
    [
        (
            LIMIT,
            State.CANCELLED,
            Code.DEADLINE_EXCEEDED,
            (
                "the job was cancelled at the limit of its running time: Slurm ended the job at "
                "the time limit of its partition"
            ),
        ),
        (
            MEMORY,
            State.FAILED,
            Code.RESOURCE_EXHAUSTED,
            (
                f"replica {MASTER} was killed because memory ran out: the job used more memory "
                "than Slurm gave it"
            ),
        ),
    ],
)
def test_a_limit_of_the_engine_ends_the_job(
    seen: Exit | None, how: Exit, state: State, code: Code, message: str
) -> None:
    gang = Gang(workers=0)
    end_by_engine(gang, MASTER, how, seen)
    assert gang.job.ending is not None
    assert (gang.job.state, gang.job.ending.code) == (state, code)
    assert gang.job.ending.message == message
    assert gang.events("RESTART") == []


def test_the_whole_gang_ends_at_a_limit_and_each_end_is_told_once() -> None:
    gang = Gang(workers=1)
    for name in (MASTER, WORKER):
        gang.exit(name, STOPPED)
    for name in (MASTER, WORKER):
        gang.end(name, LIMIT)
    assert gang.job.state is State.CANCELLED
    assert gang.events("RESTART") == []
    assert len(gang.events("REPLICA_FAILED")) == 2


@pytest.mark.parametrize("how", [TAKEN, LIMIT, MEMORY])
@pytest.mark.parametrize(
    ("own", "state"), [(OK, State.SUCCEEDED), (BUG, State.FAILED), (MEMORY, State.FAILED)]
)
def test_the_end_of_a_program_holds_over_what_the_engine_says_later(
    how: Exit, own: Exit, state: State
) -> None:
    gang = Gang(workers=0)
    end_by_engine(gang, MASTER, how, own)
    assert gang.job.state is state
