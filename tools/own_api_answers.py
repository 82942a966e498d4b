"""Models of those answers of Footplate's own API that the service builds by hand, and of requests.

The others are in ``footplate.wire.footplate_v1``. A test compares all of them with what a service
answers (``tests/e2e/service/test_own_api.py``).
"""

from __future__ import annotations

from typing import Any

from pydantic import Field, JsonValue

from footplate.domain.job_states import Phase, State
from footplate.domain.jobs import ExitKind
from footplate.domain.sites import Mode
from footplate.wire.footplate_v1.answer import Answer, Number
from footplate.wire.json_text import JsonObject

Labels = dict[str, str]


class Nothing(Answer):
    """An empty object."""


class Server(Answer):
    """One of the servers that share a database."""

    url: str
    pid: int
    version: str
    leads: bool
    """It starts and ends jobs; the others answer requests."""


class Region(Answer):
    """What a region is bound to."""

    name: str
    """`*` stands for all regions that no table of the settings names."""
    backend: str
    """`local`, `slurm`, `kubernetes` or `ray`."""
    where: str
    machine_types: list[str]
    """`["*"]`: all of the catalogue's."""
    accelerators: list[str]
    facts: list[str]
    """What the engine says of itself."""
    problems: list[str]
    max_replicas: int | None = None
    mode: Mode | None = None
    capacity: dict[str, float] | None = None
    """By resource: `vcpus`, `memory_mb`, accelerators; `replicas` where machines are emulated."""
    used: dict[str, float] | None = None
    reachable: bool | None = None


class Regions(Answer):
    regions: list[Region]


class Status(Answer):
    version: str
    url: str
    pid: int
    data_dir: str
    active_jobs: dict[str, int]
    """The number of jobs that haven't ended, by state."""
    active_trials: dict[str, int]
    servers: list[Server]
    trouble: str
    """What is wrong with the server's machine; empty: nothing."""
    regions: list[Region]
    """Those that an engine has."""


class Ending(Answer):
    cancelled_jobs: int
    other_servers: list[str] | None = None
    """The URLs of the service's other servers, which go on."""


class RestartsRequest(Answer):
    names: list[str]
    """Full names of jobs."""


class Restarts(Answer):
    restarts: dict[str, int]
    """By name, without those that were never restarted."""


class AuditEntry(Answer):
    time: str
    action: str
    resource: str
    by: str
    """A user of this machine, an address, or the job whose program called; empty: unknown."""
    client: str
    address: str
    job: str | None = None


class AuditPage(Answer):
    entries: list[AuditEntry]
    next_page_token: str | None = None


class TrackingPlace(Answer):
    project: str
    region: str


class Places(Answer):
    places: list[TrackingPlace]


class MachineLimit(Answer):
    subject: str
    enforced: bool
    text: str


class MachineLimits(Answer):
    limits: list[MachineLimit]


class Environment(Answer):
    """A runtime in the cache, or a layer of packages on top of one."""

    kind: str
    key: str
    runtime: str
    slice: str
    python: str
    packages: list[str]
    size_bytes: int
    last_use_time: str
    in_use: bool
    kept: bool
    """A persistent resource keeps it."""
    complete: bool
    """False: its build was interrupted."""


class Environments(Answer):
    path: str
    limit_bytes: int | None
    free_bytes: int
    count: int
    size_bytes: int
    environments: list[Environment]
    """At most 500; the sizes count all."""


class Authority(Answer):
    certificate: str
    """In PEM; clients of gRPC and of the proxy have to trust it."""


class Proxy(Answer):
    port: int
    refused_hosts: list[str]


class Machines(Answer):
    """The machines of one pool of a job."""

    role: str
    count: int
    machine_type: str
    accelerator_type: str | None = None
    accelerator_count: int | None = None


class PerHour(Answer):
    """What a job holds, and what an hour of it costs by the price table of the settings."""

    machines: int
    accelerators: int
    cost: Number | None = None
    currency: str | None = None


class Job(Answer):
    """A job of any kind, as lists show it."""

    name: str
    """`projects/P/jobs/ID`, or `projects/P/locations/R/KIND/ID`."""
    display_name: str
    job_id: str
    project: str
    region: str
    kind: str
    """`jobs`, `customJobs`, `hyperparameterTuningJobs` or `trainingPipelines`."""
    state: State
    machines: list[Machines]
    restarts: int
    create_time: str
    start_time: str | None = None
    end_time: str | None = None
    trials: int | None = None
    """How many a search may have."""
    per_hour: PerHour | None = None
    labels: Labels | None = None
    note: str | None = None
    author: str | None = None
    waiting: str | None = None
    """Why the job isn't running yet."""
    place: int | None = None
    """In the queue, from 1."""
    message: str | None = None
    """Why it ended as it did."""


class JobPage(Answer):
    jobs: list[Job]
    next_page_token: str | None = None
    previous_page_token: str | None = None


class Exit(Answer):
    kind: ExitKind
    code: int
    cause: str
    """The exception and its line, where the program said it."""
    advice: str


class Replica(Answer):
    name: str
    phase: Phase
    restarts: int
    restart: int
    devices: list[int | str]
    """The GPUs that it has."""
    address: str | None = None
    exit: Exit | None = None
    loss: str | None = None


class JobProgram(Answer):
    """Either an image, or a runtime with packages and a module."""

    image: str | None = None
    command: list[str] | None = None
    args: list[str] | None = None
    runtime: str | None = None
    packages: list[str] | None = None
    module: str | None = None


class JobPool(Machines):
    replicas: int
    boot_disk_type: str
    boot_disk_size_gb: int
    environment: dict[str, str]
    program: JobProgram


class Directory(Answer):
    variable: str | None = None
    """The variable that programs find its URI in."""
    uri: str


class Spec(Answer):
    """The service's reading of a request."""

    region: str
    pools: list[JobPool]
    max_running_time_s: Number | None = Field(None, alias="maxRunningTimeS")
    max_wait_time_s: Number | None = Field(None, alias="maxWaitTimeS")
    priority: int
    max_restarts: int | None
    max_retries: int | None
    web_access: bool
    tuning: bool
    directories: list[Directory]
    directory_form: str
    job_dir: str | None = None
    trial: Any = None
    service_account: str | None = None
    network: str | None = None
    persistent_resource: str | None = None
    tensorboard: str | None = None


class JobDetails(Job):
    """Everything about a job but its trials, events, lines and usage."""

    attempt: int
    update_time: str
    replicas: list[Replica]
    images: dict[str, str]
    """The digests of images that run, by their names."""
    spec: Spec
    request: JsonObject
    """The request as it was accepted."""
    backing: str | None = None
    """The job that runs a pipeline's program."""
    model: str | None = None
    """The version of a model that a pipeline made."""
    pipeline: str | None = None
    """The pipeline whose program this job runs."""


class JobPatch(Answer):
    labels: Labels | None = None
    note: str | None = None
    """At most 2000 characters."""


class Collections(Answer):
    collections: list[str]
    """Such as `projects/P/jobs`: those that have jobs."""


class Changes(Answer):
    changes: int


class Hours(Answer):
    machine_hours: dict[str, Number]
    """By machine type."""
    accelerator_hours: dict[str, Number]
    cost: Number | None = None
    currency: str | None = None


class Day(Hours):
    date: str
    project: str


class DailyHours(Answer):
    start_date: str
    end_date: str
    time_zone: str
    days: list[Day]


class LogLine(Answer):
    """A line that a replica printed."""

    cursor: int
    """The position after the line: reading goes on there."""
    timestamp: str
    time: str
    """When the program printed it."""
    severity: str
    attempt: int
    restart: int
    replica: str
    sequence: int
    message: str
    trial: str | None = None
    log: str | None = None
    """The log that an entry was written to over Cloud Logging's API, beside its other fields."""
    payload: JsonValue = None
    """A structured line."""


class LogPage(Answer):
    lines: list[LogLine]
    start: int
    """Where reading began."""
    cursor: int
    """Where it goes on, in the same direction."""
    size: int
    more: bool


class Event(Answer):
    """An event of a job."""

    number: int
    """It counts the job's events from 1."""
    time: str
    kind: str
    message: str
    attempt: int
    replica: str


class Series(Answer):
    metric: str
    source: str
    """The file or channel that the program wrote it to."""
    steps: list[int]
    times: list[str]
    values: list[Number]


class Metrics(Answer):
    series: list[Series]
    more: bool
    """The next answer has more: files are still being read."""
    omitted: int


class Curve(Answer):
    trial: int
    steps: list[int]
    values: dict[str, list[Number | None]]
    """By metric; null where it was not reported at a step."""


class Curves(Answer):
    curves: list[Curve]


class Stop(Answer):
    number: int
    step: int
    reason: str
    saved_machine_seconds: Number


class Replay(Answer):
    """Which trials a rule would have stopped."""

    rule: str
    stopped: list[Stop]
    saved_machine_seconds: Number
    machine_seconds: Number
    best_stopped: bool
    """The best trial is among them, and would have been lost."""


class StacksRequest(Answer):
    replicas: list[str] | None = None
    """All without it."""


class QuotaChange(Answer):
    limits: dict[str, int | None]
    """By resource; null removes a limit."""


class Upload(Answer):
    uri: str
    content: str
    """In base64."""


class PackageCheckRequest(Answer):
    job: JsonObject
    """The body of a create request."""
    packages: list[Upload] | None = None
    """Those that aren't in a bucket yet."""


class MachineType(Answer):
    name: str
    family: str
    vcpus: int | None = None
    memory_gb: Number | None = None
    accelerators: dict[str, list[int]] | None = None
    """Those that may be attached, each with the counts that are allowed."""
    like: str | None = None
    egress_gbps: Number | None = None
    included: dict[str, JsonValue] | None = None
    own: bool | None = None
    """The operator added it."""


class Device(Answer):
    count: int
    vcpus: int | None = None
    memory_gb: Number | None = None


class Accelerator(Answer):
    name: str
    kind: str
    memory_gb: Number | None = None
    limits: list[Device] | None = None
    """The largest machines that so many may be attached to."""
    regions: list[str]
    own: bool | None = None


class CatalogueRegion(Answer):
    name: str
    zones: dict[str, list[str]]
    """Each with its accelerators."""
    accelerators: list[str]
    own: bool | None = None


class TierMachine(Answer):
    machine_type: str
    accelerator_type: str | None = None
    accelerator_count: int | None = None
    count: int | None = None


class ScaleTier(Answer):
    name: str
    master: TierMachine
    worker: TierMachine | None = None
    parameter_server: TierMachine | None = None
    own: bool | None = None


class Runtime(Answer):
    name: str
    python: str
    versions: list[str]
    images: list[str]
    own: bool | None = None


class Catalogue(Answer):
    machine_types: list[MachineType]
    accelerators: list[Accelerator]
    regions: list[CatalogueRegion]
    scale_tiers: list[ScaleTier]
    runtimes: list[Runtime]
