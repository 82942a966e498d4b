"""The claim of a job: what it needs, and when it arrived."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from footplate.domain.jobs import DEFAULT_RUNNING_TIME_S
from footplate.domain.machines import accelerators_of
from footplate.domain.resources import JOBS, MEMORY_MB
from footplate.domain.sites import counted

if TYPE_CHECKING:
    from footplate.domain.catalogue import Catalogue
    from footplate.domain.jobs import Job, JobSpec
    from footplate.domain.names import JobUid
    from footplate.domain.resources import Amounts
    from footplate.domain.sites import Site


@dataclass(frozen=True)
class Claim:
    """A job that waits, or holds its replicas. Times are seconds since the epoch."""

    uid: JobUid
    name: str
    """The job's id, for explanations."""
    project: str
    region: str
    site: str
    """Whose capacity it takes; several regions may share one, none has several."""
    accelerator: str
    """Its line in the queue: the accelerator types that it asks for, ``+`` between; empty: none."""
    priority: int
    arrived: float
    longest_s: float
    """How long it may run, at most."""
    holds: Amounts
    """Of the site's capacity, all replicas together."""
    counts: Amounts
    """Of its project's quota: vCPUs, accelerators, and 1 job."""
    bounded: bool = False
    """Whether ``longest_s`` was asked for, and so says something about its end."""


def claim_of(job: Job, site: Site, catalogue: Catalogue) -> Claim:
    """The claim of a job that is in the service."""
    arrived = job.create_time.timestamp()
    name, project = job.name.job_id, job.name.project
    return make_claim(job.uid, name, project, job.spec, arrived, site, catalogue)


def make_claim(
    uid: JobUid,
    name: str,
    project: str,
    spec: JobSpec,
    arrived: float,
    site: Site,
    catalogue: Catalogue,
) -> Claim:
    """The claim of a job with this spec; ``arrived`` in seconds since the epoch."""
    scheduling = spec.scheduling
    return Claim(
        uid=uid,
        name=name,
        project=project,
        region=spec.region,
        site=site.name,
        accelerator=accelerators_asked(spec, catalogue),
        priority=scheduling.priority,
        arrived=arrived,
        longest_s=scheduling.max_running_time_s,
        holds=site.held_by(spec, catalogue),
        counts=counts_of(spec, catalogue),
        bounded=scheduling.max_running_time_s < DEFAULT_RUNNING_TIME_S,
    )


def counts_of(spec: JobSpec, catalogue: Catalogue) -> Amounts:
    """What counts against the quota of the job's project, whatever the site holds of it."""
    amounts = counted(spec, catalogue)
    amounts.pop(MEMORY_MB, None)
    return {**amounts, JOBS: 1}


def accelerators_asked(spec: JobSpec, catalogue: Catalogue) -> str:
    """The accelerator types that the job asks for, ``+`` between; empty: none."""
    names = {accelerators_of(pool.machine, catalogue)[0] for pool in spec.pools}
    return "+".join(sorted(name for name in names if name is not None))
