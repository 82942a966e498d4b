"""What a job claims, as its spec and the site of its region make it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.admission.claims import Claim
from footplate.domain.amounts import JOBS, MEMORY_MB
from footplate.domain.jobs import DEFAULT_RUNNING_TIME_S
from footplate.domain.machines import accelerators_of
from footplate.domain.sites import counted

if TYPE_CHECKING:
    from footplate.domain.amounts import Amounts
    from footplate.domain.catalogue import Catalogue
    from footplate.domain.jobs import Job, JobSpec
    from footplate.domain.names import JobUid
    from footplate.domain.sites import Site


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
    """The claim that a job of this spec makes; ``arrived`` in seconds since the epoch."""
    scheduling = spec.scheduling
    return Claim(
        uid=uid,
        name=name,
        project=project,
        region=spec.region,
        site=site.name,
        accelerator=line_of(spec, catalogue),
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


def line_of(spec: JobSpec, catalogue: Catalogue) -> str:
    """The accelerator types that the job asks for, ``+`` between; empty: none."""
    names = {accelerators_of(pool.machine, catalogue)[0] for pool in spec.pools}
    return "+".join(sorted(name for name in names if name is not None))
