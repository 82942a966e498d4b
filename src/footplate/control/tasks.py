"""What one replica is to do, as its supervisor gets it."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, BinaryIO

from footplate.control.attempts import current
from footplate.control.contents import Contents
from footplate.control.lapses import seconds_since
from footplate.control.paths import local_path
from footplate.control.tokens import Bearer
from footplate.domain import environment, invocation, reduction
from footplate.domain.errors import NotFound, Unimplemented
from footplate.domain.jobs import Address, PythonProgram, WorkerPool
from footplate.domain.lifecycle import awaited, to_stop
from footplate.domain.names import GcsUri
from footplate.domain.sites import Mode, devices, memory_mb
from footplate.wire.replica_v1 import Allotment, Package, PythonTask, Start, Task

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from footplate.control.reduction import ReductionKit
    from footplate.domain.catalogue import Catalogue
    from footplate.domain.jobs import Job, JobSpec, Replica
    from footplate.domain.sites import Site
    from footplate.ports.buckets import Buckets
    from footplate.ports.clock import SteadyClock
    from footplate.ports.store import Store

    StorageVariables = Callable[[Bearer], tuple[tuple[str, str], ...]]

_LEAST_RUNNING_TIME_S = 1.0
"""Of an attempt whose job's limit is as good as over: a program gets to say something."""


@dataclass(frozen=True)
class Limits:
    """Times that supervisors keep to, in seconds."""

    stop_grace_s: float
    heartbeat_s: float
    gathering_s: float
    """How long a replica that is ready waits for the others of its gang."""
    usage_s: float = 0.0
    """From one sample of what a program uses to the next; 0: none."""
    hang_s: float = 0.0
    """How long a silence of all programs is nothing special; 0: however long it is."""


class Tasks:
    """``site`` gives what a region is bound to; ``free_port`` finds a port of this machine that
    nobody listens on; ``storage`` has variables that lead clients of Cloud Storage to the buckets.
    """

    def __init__(
        self,
        store: Store,
        buckets: Buckets,
        catalogue: Catalogue,
        site: Callable[[str], Site],
        clock: SteadyClock,
        limits: Limits,
        free_port: Callable[[], int],
        reduction: ReductionKit,
        storage: StorageVariables = lambda _: (),
    ) -> None:
        self._store = store
        self._buckets = buckets
        self._contents = Contents(buckets)
        self._catalogue = catalogue
        self._site = site
        self._clock = clock
        self._limits = limits
        self._free_port = free_port
        self._reduction = reduction
        self._storage = storage

    def task(self, bearer: Bearer) -> Task:
        """Raises what ``current`` raises."""
        job, replica = current(self._store, bearer), bearer.replica
        pool = _pool(job.spec, replica)
        program = _python(pool)
        site = self._site(job.spec.region)
        gang = len(job.replicas) > 1
        variables = self._environment(job, replica, pool, {} if gang else self._alone(replica))
        return Task(
            attempt_id=job.attempt_id,
            attempt=job.attempt,
            replica=replica,
            job=str(job.name),
            program=PythonTask(program.module, invocation.arguments(job.spec, program, self._path)),
            packages=self._packages(job.spec, pool, program),
            runtime=self._catalogue.runtimes.resolve(program.runtime, pool.field),
            environment=tuple(variables.items()),
            directories=tuple(self._path(d.uri) for d in job.spec.directories),
            time_limit_s=self._time_left_s(job),
            stop_grace_s=self._limits.stop_grace_s,
            heartbeat_s=self._limits.heartbeat_s,
            gpus=devices.are_real(variables.get(devices.VISIBLE, "").split(","), site),
            allotment=self._allotment(pool, site),
            web_access=job.spec.web_access,
            gathering_s=self._limits.gathering_s if gang else None,
            restart=bearer.restart,
            address=_find(job, replica).address if gang else None,
            usage_s=self._limits.usage_s,
            hang_s=self._limits.hang_s,
            metrics=job.spec.metrics,
        )

    def start(self, bearer: Bearer) -> Start:
        """Whether a ready replica of a gang may start its program, and with what environment.

        It may not where it is to end, though all have been ready: it will hear of that.

        Raises what ``current`` raises.
        """
        job, replica = current(self._store, bearer), bearer.replica
        pool = _pool(job.spec, replica)
        missing = awaited(job)
        if missing or replica in to_stop(job):
            return Start(None, missing)
        addresses = {each.name: each.address for each in job.replicas if each.address is not None}
        return Start(tuple(self._environment(job, replica, pool, addresses).items()))

    def package(self, bearer: Bearer, index: int) -> BinaryIO:
        """The bytes of a package of the task; the caller closes. Raises as task does."""
        job = current(self._store, bearer)
        pool = _pool(job.spec, bearer.replica)
        uris = _python(pool).package_uris
        wheel = self._reduction.wheel_for(job.spec, pool, self._catalogue.runtimes)
        if wheel is not None and index == len(uris):
            return wheel.open()
        if not 0 <= index < len(uris):
            raise NotFound(f"replica {bearer.replica} has no package number {index}")
        uri = GcsUri.parse(uris[index], "packageUris")
        return self._buckets.read(uri.bucket, uri.path)

    def lock(self, sha256: str) -> str:
        """The pinned requirements of a slice of a runtime. Raises NotFound."""
        return self._catalogue.runtimes.lock_text(sha256)

    def _packages(
        self, spec: JobSpec, pool: WorkerPool, program: PythonProgram
    ) -> tuple[Package, ...]:
        """The user's own, and the service's after them."""
        own = tuple(self._package(uri) for uri in program.package_uris)
        wheel = self._reduction.wheel_for(spec, pool, self._catalogue.runtimes)
        return own if wheel is None else (*own, Package(wheel.name, wheel.sha256))

    def _package(self, uri: str) -> Package:
        """A package that isn't there any more is missed by its replica, which says so."""
        try:
            sha256 = self._contents.sha256(uri)
        except NotFound:
            sha256 = ""
        return Package(uri.rpartition("/")[2], sha256)

    def _alone(self, replica: str) -> dict[str, Address]:
        return {replica: Address("127.0.0.1", self._free_port(), (self._free_port(),))}

    def _environment(
        self, job: Job, replica: str, pool: WorkerPool, addresses: Mapping[str, Address]
    ) -> dict[str, str]:
        """The service's, the user's own over them, and over all what hands out accelerators.

        Nothing of the cluster is in it while ``addresses`` aren't known.
        """
        site = self._site(job.spec.region)
        given = invocation.variables(job.spec, replica, job.name.job_id, addresses, self._path)
        given = (*given, *invocation.starts(job.attempt, _find(job, replica).restart))
        if addresses:
            kit, attempt = self._reduction, job.attempt_id
            token, runtimes = kit.token(attempt), self._catalogue.runtimes
            told = reduction.variables(job.spec, replica, addresses, attempt, token, runtimes)
            given = (*given, *told.items())
        if _shares_loopback(addresses.get(replica)):
            given = (*given, *self._storage(_bearer(job, replica)))
        own = dict(environment.expand(given, pool.environment))
        held = _find(job, replica).devices
        return own | devices.variables(pool.machine, held, self._catalogue, site, own)

    def _time_left_s(self, job: Job) -> float:
        """Of the running time limit, which counts from the job's first time RUNNING."""
        limit_s = job.spec.scheduling.max_running_time_s
        if job.start_time is None:
            return limit_s
        run_s = seconds_since(job.start_time, self._clock.now(), self._clock)
        return min(limit_s, max(limit_s - run_s, _LEAST_RUNNING_TIME_S))

    def _allotment(self, pool: WorkerPool, site: Site) -> Allotment | None:
        kind = self._catalogue.machine_types.get(pool.machine.machine_type)
        if kind is None or site.mode is not Mode.ENFORCE:
            return None
        return Allotment(kind.name, kind.vcpus, memory_mb(kind))

    def _path(self, uri: str) -> str:
        return local_path(uri, self._buckets)


def _bearer(job: Job, replica: str) -> Bearer:
    return Bearer(job.attempt_id, replica, _find(job, replica).restart)


def _shares_loopback(address: Address | None) -> bool:
    """Whether a program has the machine's own loopback: in a network of its own it reaches no
    server there.
    """
    return address is not None and ip_address(address.host).is_loopback


def _find(job: Job, replica: str) -> Replica:
    return next(each for each in job.replicas if each.name == replica)


def _pool(spec: JobSpec, replica: str) -> WorkerPool:
    for name, pool, _ in spec.replicas():
        if name == replica:
            return pool
    raise NotFound(f"the job has no replica {replica}")


def _python(pool: WorkerPool) -> PythonProgram:
    if isinstance(pool.program, PythonProgram):
        return pool.program
    raise Unimplemented("containers are not run yet")
