"""The task of one replica, as its supervisor receives it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from footplate.control.bucket_places import BucketPlaces
from footplate.control.current_attempts import current
from footplate.control.elapsed_time import seconds_since
from footplate.control.images import Images
from footplate.control.node_places import HERE, NodePlaces
from footplate.control.package_digests import PackageDigests
from footplate.control.preparations import name_preparation
from footplate.control.program_api import ProgramApi
from footplate.control.reduction_setup import ReductionKit
from footplate.control.task_programs import TaskPrograms
from footplate.control.tokens import Bearer
from footplate.control.wheels import Wheel
from footplate.domain import program_arguments, reduction, variable_expansion
from footplate.domain.bucket_sharing import EVERY
from footplate.domain.catalogue import Catalogue
from footplate.domain.errors import NotFound
from footplate.domain.jobs import (
    Address,
    ContainerProgram,
    Job,
    JobSpec,
    PythonProgram,
    Replica,
    WorkerPool,
)
from footplate.domain.lifecycle import awaited, to_stop
from footplate.domain.names import PersistentResourceName
from footplate.domain.persistent_resources import PersistentResource, resource_of
from footplate.domain.sites import Mode, Site, gpu_assignment, memory_mb
from footplate.ports.bucket_copies import BucketCopies
from footplate.ports.buckets import Buckets
from footplate.ports.clock import SteadyClock
from footplate.ports.container_engine import ContainerEngine
from footplate.ports.store import Store
from footplate.protocol import task as protocol
from footplate.protocol.task import (
    SLICE_VARIABLE,
    Allotment,
    ContainerWords,
    Start,
    Task,
)

StorageVariables = Callable[[Bearer, str], tuple[tuple[str, str], ...]]

_MIN_RUNNING_TIME_S = 1.0
"""The least for an attempt whose job has no time left: a program gets to say something."""


@dataclass(frozen=True)
class Limits:
    """Time limits that supervisors enforce, in seconds."""

    stop_grace_s: float
    heartbeat_s: float
    gathering_s: float
    """How long a replica that is ready waits for the others of its gang."""
    usage_s: float = 0.0
    """The time between two samples of what a program uses; 0: there are none."""
    hang_s: float = 0.0
    """How long a silence of all programs is nothing special; 0: however long it is."""
    machines: bool = False
    """Programs get no more than their machines have, also where nothing is reserved."""


class Tasks:
    """Makes the tasks of replicas.

    ``site`` returns the capacity of a region. ``free_port`` returns an unused port of this machine.
    ``storage`` returns variables that point clients of Cloud Storage to the buckets. ``authority``
    returns the proxy's certificate authority, in PEM.
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
        algorithms_wheel: Wheel,
        images: Images,
        engine: ContainerEngine,
        storage: StorageVariables = lambda _bearer, _relay: (),
        image_pull: str = "missing",
        shared_buckets: Sequence[str] = (EVERY,),
        authority: Callable[[], str] = str,
        resource: Callable[[PersistentResourceName], PersistentResource | None] = lambda _: None,
        copies: BucketCopies | None = None,
        api: ProgramApi | None = None,
    ) -> None:
        """Stores the dependencies.

        ``copies`` makes local copies of buckets that aren't stored as folders; None: all are
        folders.
        """
        self._store = store
        self._places = BucketPlaces(buckets, shared_buckets, copies)
        self._programs = TaskPrograms(
            *(self._places, buckets, PackageDigests(buckets), catalogue, site),
            *(reduction, algorithms_wheel, images, engine, image_pull),
        )
        self._catalogue = catalogue
        self._site = site
        self._clock = clock
        self._limits = limits
        self._free_port = free_port
        self._reduction = reduction
        self._storage = storage
        self._authority = authority
        self._api = api or ProgramApi()
        self._resource = resource

    def task(self, bearer: Bearer, node: NodePlaces = HERE) -> Task:
        """Returns the task of a replica. Raises what ``current`` raises."""
        job, replica = current(self._store, bearer), bearer.replica
        pool = _pool(job.spec, replica)
        site = self._site(job.spec.region)
        gang = len(job.replicas) > 1
        addresses = {} if gang else self._alone(replica)
        variables = self._environment(job, replica, pool, addresses, node)
        buckets, bound = self._places.visible(job, node)
        task = Task(
            attempt_id=job.attempt_id,
            attempt=job.attempt,
            replica=replica,
            job=str(job.name),
            **self._programs.describe(job, pool, variables, node),
            environment=tuple(variables.items()),
            directories=tuple(self._places.path(job, node, d.uri) for d in job.spec.directories),
            time_limit_s=self._time_left_s(job),
            stop_grace_s=self._limits.stop_grace_s,
            heartbeat_s=self._limits.heartbeat_s,
            gpus=gpu_assignment.finds_gpus(
                pool.machine,
                variables.get(gpu_assignment.VISIBLE, "").split(","),
                self._catalogue,
                site,
            ),
            allotment=self._allotment(pool, site),
            web_access=job.spec.web_access,
            gathering_s=self._limits.gathering_s if gang else None,
            restart=bearer.restart,
            address=_describe(_find(job, replica).address) if gang else None,
            usage_s=self._limits.usage_s,
            hang_s=self._limits.hang_s,
            metrics=job.spec.metrics,
            build_environment=self._build_environment(bearer, pool, node),
            devices=self._container_devices(job, replica, pool, site),
            authority=self._authority(),
            account=self._api.account(job, bearer, node.url),
            buckets=buckets,
            bound_buckets=bound,
            persistent_resource=self._resource_uid(job),
        )
        task.preparation = name_preparation(task)
        return task

    def _resource_uid(self, job: Job) -> str:
        name = resource_of(job)
        resource = None if name is None else self._resource(name)
        return "" if resource is None else resource.uid

    def _build_environment(
        self, bearer: Bearer, pool: WorkerPool, node: NodePlaces
    ) -> tuple[tuple[str, str], ...]:
        """Returns the variables for the builds of a pool's packages."""
        program = pool.program
        packaged = isinstance(program, PythonProgram) and program.package_uris
        return self._storage(bearer, node.url) if packaged else ()

    def _container_devices(
        self, job: Job, replica: str, pool: WorkerPool, site: Site
    ) -> tuple[str, ...]:
        """Returns the real GPUs that the container of a replica uses."""
        if not isinstance(pool.program, ContainerProgram):
            return ()
        wanted = dict(pool.environment).get(gpu_assignment.VISIBLE)
        held = gpu_assignment.visible(_find(job, replica).devices, wanted)
        return tuple(device for device in held if gpu_assignment.are_real((device,), site))

    def start(self, bearer: Bearer, node: NodePlaces = HERE) -> Start:
        """Returns what a ready replica of a gang needs to start, or the replicas it waits for.

        If the replica is to end, it gets no start although all are ready; it is told to stop
        elsewhere.

        Raises what ``current`` raises.
        """
        job, replica = current(self._store, bearer), bearer.replica
        pool = _pool(job.spec, replica)
        missing = awaited(job)
        if missing or replica in to_stop(job):
            return Start(awaited=missing)
        addresses = {each.name: each.address for each in job.replicas if each.address is not None}
        variables = self._environment(job, replica, pool, addresses, node)
        program, container = pool.program, None
        if isinstance(program, ContainerProgram):
            form = self._programs.directory_form(job, pool, node)
            container = self._programs.container(job, program, form, variables)
        words = None if container is None else ContainerWords(container.command, container.args)
        return Start(tuple(variables.items()), program=words)

    def package(self, bearer: Bearer, index: int) -> BinaryIO:
        """Opens a package of the task; the caller closes it. Raises what ``task`` raises."""
        spec, replica = current(self._store, bearer).spec, bearer.replica
        return self._programs.open_package(spec, _pool(spec, replica), replica, index)

    def lock(self, sha256: str) -> str:
        """Returns the pinned requirements of a slice of a runtime. Raises NotFound."""
        return self._catalogue.runtimes.lock_text(sha256)

    def _alone(self, replica: str) -> dict[str, Address]:
        return {replica: Address("127.0.0.1", self._free_port(), (self._free_port(),))}

    def _environment(
        self,
        job: Job,
        replica: str,
        pool: WorkerPool,
        addresses: Mapping[str, Address],
        node: NodePlaces,
    ) -> dict[str, str]:
        """Merges the variables of the service, of the user, and last those of accelerators.

        Without ``addresses`` the cluster's variables are left out.
        """
        site = self._site(job.spec.region)
        container = isinstance(pool.program, ContainerProgram)
        form = self._programs.directory_form(job, pool, node)
        given = program_arguments.variables(job.spec, replica, job.name.job_id, addresses, form)
        given = (*given, *program_arguments.starts(job.attempt, _find(job, replica).restart))
        if addresses:
            kit, attempt = self._reduction, job.attempt_id
            token, runtimes = kit.token(attempt), self._catalogue.runtimes
            added = reduction.variables(job.spec, replica, addresses, attempt, token, runtimes)
            given = (*given, *added.items())
        if addresses:
            bearer = _bearer(job, replica)
            storage = self._storage(bearer, node.url)
            project = ("GOOGLE_CLOUD_PROJECT", job.name.project)
            given = (*given, project, *storage, *self._api.variables(job, bearer, node.url))
        own = dict(variable_expansion.expand(given, pool.environment))
        held = _find(job, replica).devices
        added = gpu_assignment.variables(pool.machine, held, self._catalogue, site, own)
        if container:  # its engine gives it its GPUs, numbered from 0
            added.pop(gpu_assignment.VISIBLE, None)
            own.pop(gpu_assignment.VISIBLE, None)
        if isinstance(pool.program, PythonProgram) and pool.program.command:
            own.setdefault(SLICE_VARIABLE, "full")  # what a command imports is not looked for
        return own | added

    def _time_left_s(self, job: Job) -> float:
        """Returns what remains of the running time limit, which counts from the first RUNNING."""
        limit_s = job.spec.scheduling.max_running_time_s
        if job.start_time is None:
            return limit_s
        run_s = seconds_since(job.start_time, self._clock.now(), self._clock)
        return min(limit_s, max(limit_s - run_s, _MIN_RUNNING_TIME_S))

    def _allotment(self, pool: WorkerPool, site: Site) -> Allotment | None:
        kind = self._catalogue.machine_types.get(pool.machine.machine_type)
        limited = site.mode is Mode.ENFORCE or self._limits.machines
        if kind is None or not limited:
            return None
        disk_gb = pool.disk.boot_disk_size_gb
        return Allotment(kind.name, kind.vcpus, memory_mb(kind), disk_gb)


def _bearer(job: Job, replica: str) -> Bearer:
    return Bearer(job.attempt_id, replica, _find(job, replica).restart)


def _describe(address: Address | None) -> protocol.Address | None:
    if address is None:
        return None
    return protocol.Address(address.host, address.port, address.open_ports)


def _find(job: Job, replica: str) -> Replica:
    return next(each for each in job.replicas if each.name == replica)


def _pool(spec: JobSpec, replica: str) -> WorkerPool:
    for name, pool, _ in spec.replicas():
        if name == replica:
            return pool
    raise NotFound(f"the job has no replica {replica}")
