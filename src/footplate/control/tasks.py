"""What one replica is to do, as its supervisor gets it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from footplate.control.attempts import current
from footplate.control.paths import local_path
from footplate.domain import environment, invocation
from footplate.domain.errors import NotFound, Unimplemented
from footplate.domain.jobs import PythonProgram, WorkerPool
from footplate.domain.names import GcsUri
from footplate.wire.replica_v1 import Package, PythonTask, Task

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.domain.jobs import Job, JobSpec
    from footplate.domain.names import AttemptId
    from footplate.domain.runtimes import Runtimes
    from footplate.ports.buckets import Buckets
    from footplate.ports.store import Store


@dataclass(frozen=True)
class Limits:
    """Times that supervisors keep to, in seconds."""

    stop_grace_s: float
    heartbeat_s: float


class Tasks:
    """``free_port`` finds a port of this machine that nobody listens on."""

    def __init__(
        self,
        store: Store,
        buckets: Buckets,
        runtimes: Runtimes,
        limits: Limits,
        free_port: Callable[[], int],
    ) -> None:
        self._store = store
        self._buckets = buckets
        self._runtimes = runtimes
        self._limits = limits
        self._free_port = free_port

    def task(self, attempt_id: AttemptId, replica: str) -> Task:
        """Raises PermissionDenied: the attempt is over. NotFound: it has no such replica."""
        job = current(self._store, attempt_id)
        pool = _pool(job.spec, replica)
        program = _python(pool)
        return Task(
            attempt_id=job.attempt_id,
            attempt=job.attempt,
            replica=replica,
            job=str(job.name),
            program=PythonTask(program.module, invocation.arguments(job.spec, program, self._path)),
            packages=tuple(Package(uri.rpartition("/")[2]) for uri in program.package_uris),
            runtime=self._runtimes.resolve(program.runtime, pool.field),
            environment=self._environment(job, replica, pool),
            directories=tuple(self._path(d.uri) for d in job.spec.directories),
            time_limit_s=job.spec.scheduling.max_running_time_s,
            stop_grace_s=self._limits.stop_grace_s,
            heartbeat_s=self._limits.heartbeat_s,
        )

    def package(self, attempt_id: AttemptId, replica: str, index: int) -> BinaryIO:
        """The bytes of a package of the task; the caller closes. Raises as task does."""
        job = current(self._store, attempt_id)
        uris = _python(_pool(job.spec, replica)).package_uris
        if not 0 <= index < len(uris):
            raise NotFound(f"replica {replica} has no package number {index}")
        uri = GcsUri.parse(uris[index], "packageUris")
        return self._buckets.read(uri.bucket, uri.path)

    def lock(self, sha256: str) -> str:
        """The pinned requirements of a slice of a runtime. Raises NotFound."""
        return self._runtimes.lock_text(sha256)

    def _environment(self, job: Job, replica: str, pool: WorkerPool) -> tuple[tuple[str, str], ...]:
        addresses = {name: f"127.0.0.1:{self._free_port()}" for name in job.spec.replica_names()}
        given = invocation.variables(job.spec, replica, job.name.job_id, addresses, self._path)
        return environment.expand(given, pool.environment)

    def _path(self, uri: str) -> str:
        return local_path(uri, self._buckets)


def _pool(spec: JobSpec, replica: str) -> WorkerPool:
    for name, pool, _ in spec.replicas():
        if name == replica:
            return pool
    raise NotFound(f"the job has no replica {replica}")


def _python(pool: WorkerPool) -> PythonProgram:
    if isinstance(pool.program, PythonProgram):
        return pool.program
    raise Unimplemented("containers are not run yet")
