"""Checks for operations that need a program, which tuning jobs run only in trials."""

from __future__ import annotations

from footplate.domain.errors import FailedPrecondition
from footplate.domain.jobs import Job
from footplate.domain.names import JobName, TrainingPipelineName, backing_job_name, trial_run_name


def check_runs_itself(job: Job) -> None:
    """Checks that a job runs a program itself.

    Raises FailedPrecondition: other jobs run its programs; the message names them.
    """
    if isinstance(job.name, TrainingPipelineName):
        backing = backing_job_name(job.name, tunes=job.spec.search is not None)
        raise FailedPrecondition(
            f"{job.name} is a training pipeline: its program runs in {backing}; name that job"
        )
    if job.spec.search is not None:
        raise FailedPrecondition(said_of_runs(job.name))


def said_of_runs(name: JobName) -> str:
    """Explains which jobs run the programs of a tuning job."""
    first, second = (trial_run_name(name, number) for number in (1, 2))
    return (
        f"{name} is a tuning job: its programs run in the jobs of its trials, "
        f"{first.job_id}, {second.job_id} and so on; name one of these jobs"
    )
