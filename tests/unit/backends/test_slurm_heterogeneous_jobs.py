"""Components of Slurm's jobs, seen as one job: outputs of a Slurm 22.05."""

from __future__ import annotations

import pytest

from footplate.backends.engine.engine import EngineJob, JobPhase
from footplate.backends.slurm import outputs
from footplate.ports.backend import EndCause

RECORD = (
    "JobId=1 HetJobId=1 HetJobOffset=0 JobName=foot-1 HetJobIdSet=1-2 UserId=root(0) "
    "JobState=RUNNING Reason=None Dependency=(null) NodeList=n1 SchedNodeList=n3\n"
    "JobId=2 HetJobId=1 HetJobOffset=1 JobName=foot-1 HetJobIdSet=1-2 UserId=root(0) "
    "JobState=RUNNING Reason=None Dependency=(null) NodeList=n[2-3]\n"
)


def test_components_that_run_are_one_job_on_all_their_nodes() -> None:
    running = EngineJob("1", "foot-1", JobPhase.RUNNING, "", "n1,n[2-3]")
    text = "1+0|RUNNING|None|n1|||foot-1\n9|PENDING|Priority||||other\n"
    text += "1+1|RUNNING|None|n[2-3]|||foot-1\n"
    first, other = outputs.read_jobs(text).jobs
    assert first == running
    assert (other.id, other.phase) == ("9", JobPhase.WAITING)
    assert outputs.read_job_record(RECORD, 0) == running


@pytest.mark.parametrize(
    ("states", "phase", "reason", "cancelled"),
    [
        (("PENDING|Resources|", "PENDING|None|"), JobPhase.WAITING, "waits for nodes that", False),
        (("RUNNING|None|n1", "TIMEOUT|TimeLimit|n2"), JobPhase.RUNNING, "", False),
        (("COMPLETED|None|n1", "PENDING|Priority|"), JobPhase.WAITING, "waits behind", False),
        (("COMPLETED|None|n1", "CANCELLED|None|n2"), JobPhase.ENDED, "cancelled in Slurm", True),
        (("COMPLETED|None|n1", "COMPLETED|None|n2"), JobPhase.ENDED, "the job ended", False),
    ],
)
def test_the_state_of_a_job_is_that_of_its_components(
    states: tuple[str, str], phase: JobPhase, reason: str, *, cancelled: bool
) -> None:
    text = "".join(f"7+{number}|{state}|||foot\n" for number, state in enumerate(states))
    [job] = outputs.read_jobs(text).jobs
    assert (job.id, job.phase, job.cause is EndCause.CANCELLED) == ("7", phase, cancelled)
    assert job.reason.startswith(reason) if reason else not job.reason


def test_a_job_whose_components_end_is_ending_as_a_whole() -> None:
    [one] = outputs.read_jobs("7+0|COMPLETING|None|n1|||foot\n7+1|RUNNING|None|n2|||foot\n").jobs
    [all_of_it] = outputs.read_jobs(
        "7+0|COMPLETING|None|n1|||foot\n7+1|COMPLETED|None|n2|||foot\n"
    ).jobs
    assert (one.phase, one.ending) == (JobPhase.RUNNING, False)
    assert (all_of_it.phase, all_of_it.ending) == (JobPhase.RUNNING, True)


def test_a_node_that_failed_under_one_component_may_go_on() -> None:
    [job] = outputs.read_jobs("7+0|NODE_FAIL|None|n1|||foot\n7+1|COMPLETED|None|n2|||foot\n").jobs
    assert job.lost


def test_a_job_of_which_slurm_refuses_a_component_was_cancelled_by_nobody() -> None:
    """What sbatch leaves behind when it says so."""
    text = "3+0|CANCELLED|None||||foot-2\n4|FAILED|BadConstraints||||foot-2\n"
    found = outputs.read_jobs(text).jobs
    assert [(job.id, job.cause is EndCause.CANCELLED, job.refused) for job in found] == [
        ("3", False, True),
        ("4", False, True),
    ]
    [pending] = outputs.read_jobs("5+0|CANCELLED|None||||foot\n5+1|CANCELLED|None||||foot\n").jobs
    assert pending.cause is EndCause.CANCELLED


def test_a_record_of_no_job_is_no_answer() -> None:
    with pytest.raises(ValueError, match="shows 0 jobs"):
        outputs.read_job_record("\n", 0)
