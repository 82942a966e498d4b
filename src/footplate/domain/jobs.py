"""A job, its specification, and its replicas."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum

from footplate.domain import names
from footplate.domain.directory_form import DirectoryForm
from footplate.domain.errors import Code
from footplate.domain.job_states import Phase, State
from footplate.domain.pipelines import Pipeline
from footplate.domain.tuning.search import Search

DEFAULT_RUNNING_TIME_S = 604_800.0
"""Seven days: the default of both faces for the running time of a job."""


@dataclass(frozen=True)
class MachineSpec:
    """The machine of each replica of a pool; accelerators by their API name, or None."""

    machine_type: str
    accelerator_type: str | None = None
    accelerator_count: int = 0


@dataclass(frozen=True)
class DiskSpec:
    boot_disk_type: str = "pd-ssd"
    boot_disk_size_gb: int = 100


@dataclass(frozen=True)
class PythonProgram:
    """A Python module with the user's packages, or a command, that runs in a runtime.

    ``runtime`` is what the job asks for: ``version:VERSION/PYTHON``, where either part may be
    empty, ``image:URI``, ``reducer:URI``, or ``algorithm:NAME``. ``command`` is the command of a
    container whose prebuilt image is a runtime here; it finds the runtime's Python on its PATH.
    """

    runtime: str
    package_uris: tuple[str, ...]
    module: str
    args: tuple[str, ...] = ()
    command: tuple[str, ...] = ()


@dataclass(frozen=True)
class ContainerProgram:
    """A program in a container.

    If ``command`` or ``args`` are None, the image's own apply, by Docker's rules.
    """

    image_uri: str
    command: tuple[str, ...] | None = None
    args: tuple[str, ...] | None = None


Program = PythonProgram | ContainerProgram


@dataclass(frozen=True)
class WorkerPool:
    """A group of identical replicas.

    ``cluster_role`` is the pool's key in the cluster description (``master``, ``worker``,
    ``workerpool0``), ``replica_prefix`` what the names of its replicas begin with
    (``master-replica``, ``workerpool0``). The first pool of a job is the primary one.
    """

    cluster_role: str
    replica_prefix: str
    machine: MachineSpec
    replica_count: int
    program: Program
    environment: tuple[tuple[str, str], ...] = ()
    """The user's own variables, unexpanded, in order."""
    disk: DiskSpec = DiskSpec()
    field: str = ""
    """Where its program stands in the request, for errors: ``trainingInput``,
    ``jobSpec.workerPoolSpecs[0].pythonPackageSpec``."""

    def replica_names(self) -> tuple[str, ...]:
        return tuple(f"{self.replica_prefix}-{index}" for index in range(self.replica_count))


@dataclass(frozen=True)
class Scheduling:
    """The limits, priority and restarts of a job; its API sets the bounds of restarts."""

    max_running_time_s: float = DEFAULT_RUNNING_TIME_S
    max_wait_time_s: float | None = None
    priority: int = 0
    max_restarts: int = 5
    """How often a replica that was lost may start again, over all attempts together."""
    max_retries: int = 3
    """How often all replicas may start again because one of them has no restart left."""
    restarts_together: bool = False
    """Each restart of a replica is one of all replicas; else it alone starts again, in place."""

    @property
    def bounded(self) -> bool:
        """Returns whether the running time is less than what holds without a limit."""
        return self.max_running_time_s < DEFAULT_RUNNING_TIME_S


@dataclass(frozen=True)
class RestartBounds:
    """The upper limits of restarts and retries, for requests that don't forbid them."""

    max_restarts: int = Scheduling.max_restarts
    max_retries: int = Scheduling.max_retries

    def apply(self, scheduling: Scheduling) -> Scheduling:
        """Returns ``scheduling`` with these bounds; a bound of 0 was asked for, and stays 0."""
        return replace(
            scheduling,
            max_restarts=scheduling.max_restarts and self.max_restarts,
            max_retries=scheduling.max_retries and self.max_retries,
        )


class ClusterVariable(Enum):
    """A variable that describes the cluster to the program."""

    TF_CONFIG = "TF_CONFIG"
    CLUSTER_SPEC = "CLUSTER_SPEC"


@dataclass(frozen=True)
class Directory:
    """A directory of the job that exists before its programs start.

    ``uri`` is gs:// or a path. Programs get it in the environment variable ``variable``, in the
    form that the job asks for; None: it is only created.
    """

    variable: str | None
    uri: str
    field: str = ""
    """Where it stands in the request, for errors: ``trainingInput.jobDir``."""
    leaf: str = ""
    """The end of ``uri`` (``model/``) before which the directory of a trial gets its number."""


@dataclass(frozen=True)
class JobSpec:
    """A request as its API understood it: all that the service needs, as explicit values."""

    region: str
    pools: tuple[WorkerPool, ...]
    scheduling: Scheduling = Scheduling()
    job_dir: str | None = None
    """Appended to the arguments as ``--job-dir DIR``; None: not appended."""
    directories: tuple[Directory, ...] = ()
    directory_form: DirectoryForm = DirectoryForm.URIS
    environment: tuple[tuple[str, str], ...] = ()
    """Variables of the service, the same for each replica."""
    data: tuple[tuple[str, str], ...] = ()
    """Variables that name files of buckets: ``gs://BUCKET/data/training-*.csv``."""
    cluster_variables: frozenset[ClusterVariable] = frozenset()
    chief_role: str = "chief"
    """What TF_CONFIG calls the primary: ``chief`` or ``master``."""
    cluster_job: str = "{}"
    """The JSON object under ``job`` in the cluster description."""
    trial: str | None = None
    """The number of the trial that the job runs, from ``1``; None: it is not of a tuning job."""
    metrics: tuple[str, ...] = ()
    """The tags that its replicas report to the service, where it runs a trial."""
    search: Search | None = None
    """It is a tuning job: nothing of it runs but its trials, and this is the spec of each."""
    pipeline: Pipeline | None = None
    """It is a training pipeline: a job of its own, of the same spec, runs its program."""
    service_account: str | None = None
    network: str | None = None
    web_access: bool = False
    persistent_resource: str | None = None
    """The id of the persistent resource of its project and region on whose machines it runs."""
    tensorboard: str | None = None
    """The name of the TensorBoard that shows its event files."""

    @property
    def runs_itself(self) -> bool:
        """Returns whether the job has replicas of its own, unlike tuning jobs and pipelines."""
        return self.search is None and self.pipeline is None

    @property
    def primary(self) -> WorkerPool:
        return self.pools[0]

    def replica_names(self) -> tuple[str, ...]:
        """Returns the names of all replicas in order, the primary one first."""
        return tuple(name for pool in self.pools for name in pool.replica_names())

    def replicas(self) -> Iterator[tuple[str, WorkerPool, int]]:
        """Yields each replica's name, pool and index within the pool, the primary one first."""
        for pool in self.pools:
            for index, name in enumerate(pool.replica_names()):
                yield name, pool, index


class ExitKind(Enum):
    """The kind of the end of a replica's program."""

    EXITED = "EXITED"
    """By itself; ``code`` is its exit code."""
    SIGNALLED = "SIGNALLED"
    """By a signal that the service didn't send; ``code`` is the signal's number."""
    UNPREPARED = "UNPREPARED"
    """It never started: its environment could not be made."""
    TIME_LIMIT = "TIME_LIMIT"
    """The supervisor ended it at its running time limit."""
    OUT_OF_MEMORY = "OUT_OF_MEMORY"
    """The kernel ended it for want of memory."""
    OUT_OF_DISK = "OUT_OF_DISK"
    """The supervisor ended it: its files take more than its disk has."""
    STOPPED = "STOPPED"
    """The service asked for it."""
    PREEMPTED = "PREEMPTED"
    """The engine took its machine away, for another job or for maintenance."""


@dataclass(frozen=True)
class Exit:
    """The end of a replica's program; ``cause`` is the last line of its exception, or the reason.

    ``advice`` says what led to it and how to avoid it, if known.
    """

    kind: ExitKind
    code: int = 0
    cause: str = ""
    advice: str = ""

    @property
    def success(self) -> bool:
        return self.kind is ExitKind.EXITED and self.code == 0


@dataclass(frozen=True)
class Address:
    """A replica's network address; ``open_ports`` are other free ports than ``port``."""

    host: str
    port: int
    open_ports: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True)
class Replica:
    """One replica of the current attempt."""

    name: str
    phase: Phase = Phase.WAITING
    exit: Exit | None = None
    devices: tuple[str, ...] = ()
    """The GPUs of its host that it alone may use, by their ids, until the job has ended."""
    address: Address | None = None
    """Where the others of its gang find its program, once it is READY; also after a restart."""
    restart: int = 0
    """Which restart in place of this attempt it is, from 1; 0: its first start."""
    losses: int = 0
    """How many of the job's restarts, in all its attempts, its losses were the reason for."""
    echoes: int = 0
    """How often it started again as an echo since the last restart that was counted."""
    upset_at: datetime | None = None
    """When it last came back in this attempt, or failed as an echo of another one that is back.

    Failures around then are echoes. On the scale of ``ended_at``.
    """
    ended_at: datetime | None = None
    """When it became known that its program has ended or, if that never did, that it is gone.

    On a scale that doesn't jump when the clock is set: only differences on it mean something.
    """
    ended_as: int = 0
    """Its place, from 1, in the order in which the ends of its gang became known."""
    loss: str = ""
    """Why it is gone without an exit, as its backend says."""
    overdue: bool = False
    """It was left running after the end of its job was decided, and its grace is over."""
    judged: bool = False
    """Its program failed by itself, no echo: the rest of the attempt goes on without it."""


@dataclass(frozen=True)
class Ending:
    """The decided end of a job, which is stored until none of its processes runs any more."""

    state: State
    code: Code = Code.OK
    message: str = ""


@dataclass(frozen=True)
class Job:
    """The record of a job. ``version`` counts its writes and guards each of them."""

    uid: names.JobUid
    name: names.JobName
    display_name: str
    spec: JobSpec
    request: str
    """The accepted request as a JSON object, given back as it is."""
    create_time: datetime
    update_time: datetime
    labels: tuple[tuple[str, str], ...] = ()
    note: str = ""
    """What people have written about it."""
    author: str = ""
    """Who submitted it, as far as the service knows; empty: it doesn't."""
    state: State = State.QUEUED
    start_time: datetime | None = None
    """First time RUNNING."""
    end_time: datetime | None = None
    attempt: int = 0
    """Number of the current attempt, from 1; 0 before the first."""
    replicas: tuple[Replica, ...] = ()
    ending: Ending | None = None
    images: tuple[tuple[str, str], ...] = ()
    """For each name of a container image the very image, by digest or id, since it was found."""
    tuning_job: names.JobUid | None = None
    """It runs a trial of this tuning job, and is in no list; None: it stands for itself."""
    version: int = 1

    @property
    def id(self) -> str:
        """Returns the last part of the job's name."""
        return self.name.job_id

    @property
    def region(self) -> str:
        """Returns the region where the job runs."""
        return self.spec.region

    @property
    def log(self) -> names.JobUid:
        """Returns the job whose log has this job's lines: its tuning job, or itself."""
        return self.tuning_job or self.uid

    @property
    def attempt_id(self) -> names.AttemptId:
        return names.attempt_id(self.uid, self.attempt)

    @property
    def restarts(self) -> int:
        """Returns the number of restarts of replicas, alone or all together, in all attempts."""
        return sum(replica.losses for replica in self.replicas)

    @property
    def primary(self) -> Replica:
        return self.replicas[0]


@dataclass(frozen=True)
class JobEvent:
    """An event of a job and its reason; kept for ever, in order, never changed.

    ``key`` makes a report idempotent: a job has at most one event with a given key.
    """

    time: datetime
    kind: str
    message: str
    attempt: int = 0
    replica: str = ""
    key: str | None = None
