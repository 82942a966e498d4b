"""The claim of a job: what it needs, and when it arrived."""

from __future__ import annotations

from dataclasses import dataclass

from footplate.domain.catalogue import Catalogue
from footplate.domain.jobs import Job, JobSpec
from footplate.domain.machines import accelerators_of
from footplate.domain.names import JobUid
from footplate.domain.persistent_resources import machines_of, resource_named
from footplate.domain.resources import JOBS, MEMORY_MB, Amounts
from footplate.domain.sites import Machines, Mode, Site, counted


@dataclass(frozen=True)
class Claim:
    """The amounts that a waiting job needs, or that a running job or persistent resource holds.

    Times are seconds since the epoch.
    """

    uid: JobUid
    name: str
    """The job's id, for explanations."""
    project: str
    region: str
    site: str
    """Whose capacity it takes; several regions may share one, none has several.

    Of a job on a persistent resource: the resource, by its name.
    """
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
    what: str = "job"
    """The noun by which explanations call it."""


def claim_of(job: Job, site: Site, catalogue: Catalogue) -> Claim:
    """Makes the claim of a job that is in the service."""
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
    """Makes the claim of a job with this spec; ``arrived`` is in seconds since the epoch.

    A job on a persistent resource claims machines of that resource, which already count against the
    quota.
    """
    scheduling, resource = spec.scheduling, resource_named(spec, project)
    return Claim(
        uid=uid,
        name=name,
        project=project,
        region=spec.region,
        site=site.name if resource is None else str(resource),
        accelerator=accelerators_asked(spec, catalogue),
        priority=scheduling.priority,
        arrived=arrived,
        longest_s=scheduling.max_running_time_s,
        holds=held_by(spec, project, site, catalogue),
        counts=counts_of(spec, catalogue) if resource is None else {},
        bounded=scheduling.bounded,
    )


def held_by(spec: JobSpec, project: str, site: Site, catalogue: Catalogue) -> Amounts:
    """Returns what the job holds of its site, or of its persistent resource, while it runs."""
    if resource_named(spec, project) is None:
        return site.held_by(spec, catalogue)
    return held_on_resource(spec, site, catalogue)


def held_on_resource(machines: Machines, site: Site, catalogue: Catalogue) -> Amounts:
    """Returns the machines that are held of a persistent resource, by kind.

    In emulate mode the result also has the amounts of the site, which may have less than the
    resource.
    """
    held = machines_of(machines.pools, catalogue)
    if site.mode is Mode.EMULATE:
        held |= site.held_by(machines, catalogue)
    return held


def counts_of(spec: JobSpec, catalogue: Catalogue) -> Amounts:
    """Returns the amounts that count against the quota of the job's project."""
    return {**counted_machines(spec, catalogue), JOBS: 1}


def counted_machines(machines: Machines, catalogue: Catalogue) -> Amounts:
    """Returns the amounts of machines that count against the quota of their project."""
    amounts = counted(machines, catalogue)
    amounts.pop(MEMORY_MB, None)
    return amounts


def accelerators_asked(spec: Machines, catalogue: Catalogue) -> str:
    """Returns the accelerator types that the pools ask for, joined by ``+``; empty: none."""
    names = {accelerators_of(pool.machine, catalogue)[0] for pool in spec.pools}
    return "+".join(sorted(name for name in names if name is not None))
