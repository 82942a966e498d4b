"""The rule for which replicas of a job a user may open a shell in."""

from __future__ import annotations

from footplate.domain.job_states import Phase, State
from footplate.domain.jobs import Job


def open_replicas(job: Job) -> tuple[str, ...]:
    """Returns the replicas whose programs run and in which a user may open a shell."""
    if not job.spec.web_access or job.state is not State.RUNNING:
        return ()
    return tuple(each.name for each in job.replicas if each.phase is Phase.RUNNING)


def closed_because(job: Job, replica: str) -> str:
    """Returns why no shell can be opened in ``replica`` now; empty if one can."""
    if replica in open_replicas(job):
        return ""
    if not job.spec.web_access:
        return "the job doesn't set enableWebAccess"
    if job.state is not State.RUNNING:
        return f"the job is {job.state.value}; a shell needs a RUNNING job"
    return f"the program of replica {replica} isn't running"
