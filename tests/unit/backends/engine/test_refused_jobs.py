"""Jobs that the engine refuses, by whatever it calls that, and records of it that are odd."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from footplate.backends.engine.allocations import REFUSED_RETRY_S, SHORT_RETRY_S
from footplate.backends.engine.engine import EngineJob, JobPhase
from footplate.domain.names import AttemptId
from footplate.ports.backend import AttemptStart, EndCause, Presence, Ticket
from tests.support.engine_world import World

ATTEMPT, REPLICA = AttemptId("u-1"), "master-replica-0"


def start(world: World, attempt: AttemptId = ATTEMPT) -> None:
    world.start(AttemptStart(attempt, (Ticket(REPLICA, "token"),)))


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    start(world)
    return world


def end(
    world: World, job_id: str, *, refused: bool = False, cause: EndCause = EndCause.UNKNOWN
) -> None:
    job = replace(world.engine.jobs[job_id], phase=JobPhase.ENDED, reason="it failed")
    world.engine.jobs[job_id] = replace(job, refused=refused, cause=cause)


def see(world: World) -> tuple[Presence, str]:
    (seen,) = world.backend.list()
    return seen.presence, seen.reason


def test_a_refused_job_of_which_a_record_is_kept_costs_no_start(world: World) -> None:
    """sbatch says no, and squeue shows the job as failed."""
    world.engine.loses_answer = True  # as sbatch, which fails
    world.turn()
    end(world, "1", refused=True)
    world.turn(REFUSED_RETRY_S)
    assert set(world.engine.jobs) == {"1", "2"}, "it was submitted again"
    world.schedule()
    world.turn()
    world.turn()
    assert see(world) == (Presence.LIVE, "")


def test_a_job_that_is_refused_after_it_was_taken_costs_no_start(world: World) -> None:
    world.turn()
    end(world, "1", refused=True)
    world.turn()
    assert see(world) == (Presence.WAITING, "it failed")
    assert set(world.engine.jobs) == {"1"}, "it rests"
    world.turn(REFUSED_RETRY_S)
    world.schedule()
    world.turn()
    world.turn()
    assert see(world) == (Presence.LIVE, "")


def test_a_job_is_submitted_more_and_more_seldom_while_it_is_refused(world: World) -> None:
    submitted = []
    for _ in range(1000):
        world.turn(1.0)
        for job_id, job in tuple(world.engine.jobs.items()):
            if job.phase is JobPhase.WAITING:
                submitted.append(world.now_s)
                end(world, job_id, refused=True)
    rests = [after - before for before, after in pairwise(submitted)]
    assert rests == sorted(rests)
    assert 4 <= len(rests) <= 7


def test_a_job_that_waited_too_long_is_in_the_engines_queue_again_at_once(world: World) -> None:
    """However often: what rests here is in no queue while others wait there."""
    for number in range(1, 9):
        world.turn(SHORT_RETRY_S)
        assert list(world.engine.jobs) == [str(each) for each in range(1, number + 1)]
        end(world, str(number), refused=True)
        job = world.engine.jobs[str(number)]
        world.engine.jobs[str(number)] = replace(job, expired=True)
        world.turn()
        assert see(world) == (Presence.WAITING, "it failed")


def test_a_job_that_ran_and_failed_is_the_end_of_its_start(world: World) -> None:
    world.turn()
    world.schedule()
    world.turn()
    end(world, "1", refused=True)  # an engine that contradicts itself
    world.engine.launchers[0].kill()
    world.turn()
    assert see(world)[0] is Presence.GONE


def test_a_job_that_somebody_cancelled_before_it_was_known_is_cancelled(world: World) -> None:
    world.engine.loses_answer = True
    world.turn()
    end(world, "1", cause=EndCause.CANCELLED)
    world.turn()
    world.turn()
    (seen,) = world.backend.list()
    assert (seen.presence, seen.cause) == (Presence.GONE, EndCause.CANCELLED)


def test_one_attempt_that_cannot_be_read_holds_up_no_other(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    start(world, AttemptId("u-0"))
    odd = world.root / "u-0" / f"{REPLICA}.0.report"
    odd.write_text('{"state": "SLEEPING"}')
    world.turn()
    assert [job.name for job in world.engine.jobs.values()] == ["footplate-x-europe-west4.u-1.0"]
    unread, other = world.backend.list()
    assert (unread.presence, unread.restart) == (Presence.WAITING, 0), "it may run"
    assert "SLEEPING" in unread.reason
    assert other.attempt_id == ATTEMPT
    (problem,) = world.backend.problems()
    assert "u-0" in problem
    world.turn()
    assert len(caplog.records) == 1
    odd.unlink()
    world.turn(REFUSED_RETRY_S)
    assert world.backend.problems() == ()
    assert len(world.engine.jobs) == 2


def test_what_an_engine_left_out_of_its_list_is_a_problem_of_the_region(world: World) -> None:
    world.engine.oddities = ("a Pod has no name",)
    world.turn()
    assert world.backend.problems() == ("a Pod has no name",)


def test_an_answer_that_cannot_be_read_is_asked_for_again_soon(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_prefix: str) -> tuple[EngineJob, ...]:
        raise IndexError("list index out of range")

    with monkeypatch.context() as patched:
        patched.setattr(world.engine, "list", fail)
        world.turn()
        world.turn()
    assert "whose answer can't be read: IndexError" in see(world)[1]
    assert len(caplog.records) == 1
    assert world.backend._allocations.busy
    world.turn()
    assert len(world.engine.jobs) == 1


def test_an_engine_that_was_away_for_long_has_jobs_soon_after_it_is_back(world: World) -> None:
    for _ in range(1000):
        world.engine.loses_answer = True
        world.engine.jobs.clear()
        world.turn(1.0)
    world.engine.loses_answer = False
    world.engine.jobs.clear()
    world.turn(REFUSED_RETRY_S)
    assert len(world.engine.jobs) == 1


def test_an_orphan_that_cannot_be_cancelled_holds_up_no_attempt(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (1, 2):
        name = f"footplate-x-europe-west4.nobody.{number}"
        world.engine.jobs[name] = EngineJob(name, name, JobPhase.WAITING)
    tried = []

    def fail(job_id: str) -> None:
        tried.append(job_id)
        raise ValueError("no such address")

    monkeypatch.setattr(world.engine, "cancel", fail)
    world.backend.turn()
    assert len(tried) == 2
    assert see(world)[0] is Presence.WAITING


def test_a_job_of_another_projects_users_is_not_taken_for_the_attempts(world: World) -> None:
    name = "footplate-x-europe-west4.u-1.0"
    world.engine.jobs["forged"] = EngineJob("forged", name, JobPhase.RUNNING)
    world.engine.forged.add("forged")
    world.turn()
    assert [job.id for job in world.engine.jobs.values() if job.name == name] == ["forged", "1"]
    world.schedule()
    world.turn()
    world.turn()
    assert see(world) == (Presence.LIVE, "")
    assert world.backend.list()[0].engine_id == "1"
