"""What is said of a job that is being prepared."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from footplate.domain.job_states import Phase, State
from footplate.domain.jobs import Job, JobEvent, Replica
from footplate.domain.preparation_status import explain_preparing
from tests.support.jobs import CREATED, make_job

MASTER, WORKER = "master-replica-0", "worker-replica-0"


def preparing(**phases: Phase) -> Job:
    replicas = tuple(Replica(name.replace("_", "-"), phase) for name, phase in phases.items())
    return replace(make_job(), state=State.PREPARING, attempt=2, replicas=replicas)


def tell(after_s: float, message: str = "", replica: str = "", attempt: int = 2) -> JobEvent:
    return JobEvent(CREATED + timedelta(seconds=after_s), "PREPARING", message, attempt, replica)


def said(job: Job, *events: JobEvent, after_s: float = 100) -> str:
    return explain_preparing(job, events, CREATED + timedelta(seconds=after_s)).text


def test_of_one_replica_its_last_step_is_told() -> None:
    job = preparing(master_replica_0=Phase.PREPARING)
    begun = tell(58)
    assert (
        said(job, begun)
        == "Being prepared for 42 s: the server looks for an environment that fits the replica."
    )
    steps = (tell(60, "building trainer.tar.gz", MASTER), tell(70, "your packages: 1 of 3", MASTER))
    assert said(job, begun, *steps) == "Being prepared for 42 s: your packages: 1 of 3."
    other = replace(steps[1], kind="ISOLATION", message="cgroup")
    assert said(job, begun, *steps, other) == "Being prepared for 42 s: your packages: 1 of 3."


def test_earlier_attempts_do_not_count() -> None:
    job = preparing(master_replica_0=Phase.WAITING)
    events = (tell(1, attempt=1), tell(2, "x", MASTER, attempt=1), tell(90))
    assert said(job, *events) == (
        "Being prepared for 10 s: the replica's supervisor has not started yet."
    )


def test_of_a_gang_those_are_told_that_are_awaited() -> None:
    job = preparing(
        master_replica_0=Phase.READY,
        worker_replica_0=Phase.PREPARING,
        worker_replica_1=Phase.LOST,
        worker_replica_2=Phase.WAITING,
        worker_replica_3=Phase.PREPARING,
    )
    assert said(job, tell(40), tell(41, "runtime 2.21: 3 of 60 packages", WORKER)) == (
        "Being prepared for 60 s: 1 of 5 replicas are ready; the job waits for worker-replica-0 "
        "(runtime 2.21: 3 of 60 packages), worker-replica-1 (the replica's machine or supervisor "
        "was lost; the replica starts again), worker-replica-2 (the replica's supervisor has not "
        "started yet) and 1 other."
    )
    ready = preparing(master_replica_0=Phase.READY, worker_replica_0=Phase.READY)
    assert said(ready, tell(99)) == (
        "Being prepared for 1 s: the programs of the job are about to start."
    )


def test_a_clock_that_was_set_back_makes_no_nonsense() -> None:
    job = preparing(master_replica_0=Phase.PREPARING)
    assert said(job, tell(50), after_s=0).startswith("Being prepared for 0 s: ")
