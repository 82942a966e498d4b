"""What must hold of all admitted jobs together, at every moment."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from footplate.domain.admission.claims import counts_of
from footplate.domain.job_states import State
from footplate.domain.resources import total
from footplate.ports.store import ACTIVE
from tests.support.catalogue import built_in
from tests.support.simulator.world import QUOTAS, SITE

if TYPE_CHECKING:
    from footplate.domain.jobs import Job
    from tests.support.simulator.world import World

_ADMITTED = ACTIVE - {State.QUEUED}


def check_room(world: World) -> None:
    """No more is held than there is, nor than a quota allows, and no GPU is held twice.

    With other settings than at first, less may be there than was given before.
    """
    jobs = world.store.active(_ADMITTED)
    devices = Counter(d for job in jobs for replica in job.replicas for d in replica.devices)
    assert all(count == 1 for count in devices.values()), f"GPUs held twice: {devices}"
    for job in jobs:
        _check_quota(job, jobs)
        if not world.has_other_settings:
            _check_whole(job)
    if not world.has_other_settings:
        _check_capacity(jobs)


def _check_capacity(jobs: tuple[Job, ...]) -> None:
    held = total(SITE.held_by(job.spec, built_in()) for job in jobs)
    for resource, amount in held.items():
        assert amount <= SITE.capacity[resource], f"{amount} {resource} are held"


def _check_whole(job: Job) -> None:
    """A gang has all of its replicas, and all the GPUs that it holds."""
    assert tuple(r.name for r in job.replicas) == job.spec.replica_names()
    wanted = SITE.held_by(job.spec, built_in()).get("gpus", 0)
    assert sum(len(replica.devices) for replica in job.replicas) == wanted


def _check_quota(job: Job, jobs: tuple[Job, ...]) -> None:
    project, region = job.name.project, job.spec.region
    same = (j for j in jobs if (j.name.project, j.spec.region) == (project, region))
    counted = total(counts_of(j.spec, built_in()) for j in same)
    for resource, limit in QUOTAS.limits(project, region).items():
        assert counted.get(resource, 0) <= limit, f"{project} holds too many {resource}"
