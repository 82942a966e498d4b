"""Container images of jobs: whether they can run, and the digest behind a name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from footplate.control.current_attempts import current
from footplate.control.job_updates import TRIES
from footplate.control.tokens import Bearer
from footplate.domain.errors import (
    Aborted,
    FailedPrecondition,
    InvalidArgument,
    NotFound,
    Violation,
)
from footplate.domain.jobs import ContainerProgram, Job, JobSpec
from footplate.domain.runtimes import is_prebuilt
from footplate.domain.sites import EngineMachines
from footplate.ports.container_engine import ContainerEngine
from footplate.ports.store import Store

_REFERENCE = re.compile(r"[a-zA-Z0-9][\w./:@-]{0,600}", re.ASCII)


def violations(
    spec: JobSpec, engine: ContainerEngine, cluster: EngineMachines | None
) -> Iterator[Violation]:
    """Yields a violation for each pool that runs a container without an engine for it.

    ``cluster`` has the machines of the cluster that runs the region's jobs; None: this machine runs
    them.
    """
    pools = [pool for pool in spec.pools if isinstance(pool.program, ContainerProgram)]
    fault = _fault(engine, spec.region, cluster) if pools else None
    if fault is None:
        return
    for pool in pools:
        if isinstance(pool.program, ContainerProgram):
            said = f"{pool.program.image_uri} given, which is a container image: {fault}"
            said += _describe_runtime(pool.program)
            name = "executorImageUri" if pool.field.endswith("pythonPackageSpec") else "imageUri"
            yield Violation(f"{pool.field}.{name}", said)


def _describe_runtime(program: ContainerProgram) -> str:
    """Describes how a prebuilt image would run without an engine; empty: it isn't one."""
    if not is_prebuilt(program.image_uri):
        return ""
    if program.command:
        return (
            ". Footplate has no runtime for this prebuilt image; another version of the image may "
            "have one"
        )
    return ". Set a command: then the job runs in Footplate's runtime, without a container engine"


def _fault(engine: ContainerEngine, region: str, cluster: EngineMachines | None) -> str | None:
    if cluster is not None:
        return None if cluster.runs_containers else _no_containers(region, cluster)
    try:
        engine.socket()
    except FailedPrecondition as error:
        return error.message
    return None


def _no_containers(region: str, cluster: EngineMachines) -> str:
    return (
        f"region {region} runs jobs on {cluster.title}, where its settings allow no containers. If "
        "the nodes have Podman or Docker, set containers = true in the region's [[regions]] "
        'table; if they have Apptainer, containers = "apptainer". Else send the job to a region of '
        "this machine (`footplate regions list`), or train from a package"
    )


class Images:
    """The images that names stand for; all replicas and trials of a job use the same one."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def pinned(self, job: Job, name: str) -> str:
        """Returns the digest or id of the image; empty: it isn't reported yet."""
        return dict(self._owner(job).images).get(name, "")

    def named_by(self, job: Job) -> dict[str, str]:
        """Returns the image of each replica that runs a container, by its digest if known."""
        return {
            name: self.pinned(job, pool.program.image_uri) or pool.program.image_uri
            for name, pool, _ in job.spec.replicas()
            if isinstance(pool.program, ContainerProgram)
        }

    def pin(self, bearer: Bearer, name: str, reference: str) -> tuple[str, bool]:
        """Pins the image of ``name``, unless it is pinned; returns it, and if this call pinned it.

        Raises:
            NotFound: the job runs no such image.
            InvalidArgument: ``reference`` can't be a digest or id.
            Aborted: others kept writing the job; try again.
            What ``current`` raises.
        """
        job = current(self._store, bearer)
        programs = [pool.program for pool in job.spec.pools]
        named = {p.image_uri for p in programs if isinstance(p, ContainerProgram)}
        if name not in named:
            raise NotFound(f"the job has no image {name[:200]!r}")
        if not _REFERENCE.fullmatch(reference):
            raise InvalidArgument(f"{reference[:200]!r} is not the digest or id of an image")
        for _ in range(TRIES):
            owner = self._store.get_by_uid(job.tuning_job or job.uid)
            found = dict(owner.images).get(name)
            if found is not None:
                return found, False
            images = (*owner.images, (name, reference))
            try:
                self._store.update(replace(owner, images=images, version=owner.version + 1), ())
            except Aborted:
                continue
            return reference, True
        raise Aborted(f"other requests keep changing job {job.uid}; try again")

    def _owner(self, job: Job) -> Job:
        """Returns the job whose record has the images: a trial's tuning job, or the job itself."""
        return job if job.tuning_job is None else self._store.get_by_uid(job.tuning_job)
