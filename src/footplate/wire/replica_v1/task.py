"""The task and start message of a supervisor."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import JsonValue

    from footplate.domain.jobs import Address
    from footplate.domain.names import AttemptId
    from footplate.domain.runtimes import Runtime, Slice
    from footplate.wire.json_text import JsonObject

_ENVIRONMENT_FORM = "2"
"""Of what is made of the same runtime and packages: it changes when all are to be made anew."""
SLICE_VARIABLE = "FOOTPLATE_RUNTIME_SLICE"
"""By it a job chooses the slice of its runtime: as in the supervisor, which imports nothing of
ours."""


@dataclass(frozen=True)
class PythonTask:
    """The program ``python -m module args``, or ``command args`` with Python on its PATH."""

    module: str
    args: tuple[str, ...]
    command: tuple[str, ...] = ()


@dataclass(frozen=True)
class ContainerTask:
    """A container of ``image``, run by the engine at the socket ``engine``; empty: the node's.

    ``command`` and ``args`` are the job's own, expanded; None: the image's apply. ``pinned`` is the
    digest or id of the image that the job's other replicas run; empty: not known yet. ``pull`` is
    ``always`` or ``missing``.
    """

    image: str
    command: tuple[str, ...] | None
    args: tuple[str, ...] | None
    engine: str = ""
    pinned: str = ""
    pull: str = "missing"


@dataclass(frozen=True)
class Package:
    """A package of the user's; ``file`` is the name of its file.

    ``sha256`` is the digest of its bytes in hexadecimal; empty: not known.
    """

    file: str
    sha256: str = ""


@dataclass(frozen=True)
class Allotment:
    """The size of a replica's machine, for enforcing limits."""

    machine_type: str
    vcpus: int
    memory_mb: int
    disk_gb: int


@dataclass(frozen=True)
class BoundBucket:
    """A bucket whose folder, ``path``, isn't in the directory with all other buckets.

    ``copied``: the folder is a copy, which is fetched before the program starts and saved after its
    end.
    """

    name: str
    path: str
    read_only: bool
    copied: bool = False


@dataclass(frozen=True)
class Task:
    """The task of one supervisor.

    ``environment`` is expanded and in order; ``directories`` are created before the program starts.
    ``gpus``: the program has GPUs, and gets the runtime made for them. ``allotment`` is the most
    that it may use, if the host can limit it; None: no limits.
    """

    attempt_id: AttemptId
    attempt: int
    replica: str
    job: str
    program: PythonTask | ContainerTask
    packages: tuple[Package, ...]
    runtime: Runtime | None
    """None: its program is a container."""
    environment: tuple[tuple[str, str], ...]
    directories: tuple[str, ...]
    time_limit_s: float
    stop_grace_s: float
    heartbeat_s: float
    gpus: bool = False
    allotment: Allotment | None = None
    web_access: bool = False
    """Its user may open shells beside the program."""
    gathering_s: float | None = None
    """How long it may wait, when it is ready, for the others of its gang; None: it is alone.

    A gang's environment is only told when all are ready."""
    restart: int = 0
    """Which start of the replica in its attempt it is, from 0."""
    address: Address | None = None
    """Where the others of its gang know it to be, from before it was started again."""
    usage_s: float = 0.0
    """From one sample of what it uses to the next; 0: there are none."""
    hang_s: float = 0.0
    """After so long a silence its files are looked at for signs of life; 0: never."""
    metrics: tuple[str, ...] = ()
    """The tags that it looks for in what its program reports; none: it looks for nothing."""
    devices: tuple[str, ...] = ()
    """The GPUs of the host that its container gets."""
    build_environment: tuple[tuple[str, str], ...] = ()
    """Variables for the builds of its packages."""
    buckets: tuple[str, ...] | None = None
    """Those that its program may use; None: all, also those made later."""
    authority: str = ""
    """Whom its program has to trust to use the proxy, in PEM; empty: there is no proxy."""
    account: str = ""
    """The key file of a made-up service account, of a program that may call the API; else empty."""
    bound_buckets: tuple[BoundBucket, ...] = ()
    """Those that it may use besides."""
    persistent_resource: str = ""
    """The uid of the one on which it runs, which keeps its environments; empty: none."""


@dataclass(frozen=True)
class Start:
    """The answer to a replica that is ready: whether it may start its program.

    If it may, ``environment`` is set, expanded and in order; otherwise ``awaited`` names the
    replicas that aren't ready yet.
    """

    environment: tuple[tuple[str, str], ...] | None
    awaited: tuple[str, ...] = ()
    program: ContainerTask | None = None
    """Of a container, with arguments that name what is only known now."""


def encode_start(start: Start) -> JsonObject:
    if start.environment is None:
        return {"awaited": list(start.awaited)}
    answer: JsonObject = {"environment": [[name, value] for name, value in start.environment]}
    if start.program is not None:
        answer["program"] = {
            "command": _words(start.program.command),
            "args": _words(start.program.args),
        }
    return answer


def encode_task(task: Task) -> JsonObject:
    return {
        "attempt_id": task.attempt_id,
        "attempt": task.attempt,
        "replica": task.replica,
        "job": task.job,
        "program": _encode_program(task.program),
        "packages": [{**vars(package)} for package in task.packages],
        "preparation": _name_preparation(task),
        "runtime": None if task.runtime is None else _encode_runtime(task.runtime),
        "environment": [[name, value] for name, value in task.environment],
        "directories": list(task.directories),
        "time_limit_s": task.time_limit_s,
        "stop_grace_s": task.stop_grace_s,
        "heartbeat_s": task.heartbeat_s,
        "gpus": task.gpus,
        "allotment": _encode_allotment(task.allotment),
        "web_access": task.web_access,
        "gathering_s": task.gathering_s,
        "restart": task.restart,
        "address": None if task.address is None else {**vars(task.address)},
        "usage_s": task.usage_s,
        "hang_s": task.hang_s,
        "metrics": list(task.metrics),
        "devices": list(task.devices),
        "build_environment": [[name, value] for name, value in task.build_environment],
        "buckets": None if task.buckets is None else list(task.buckets),
        "authority": task.authority,
        "account": task.account,
        "bound_buckets": [{**vars(bucket)} for bucket in task.bound_buckets],
        "persistent_resource": task.persistent_resource,
    }


def encode_preparation(
    runtime: Runtime, module: str, packages: tuple[str, ...], *, slice_name: str, gpus: bool
) -> JsonObject:
    """Encodes the part of a task that determines its environment; ``packages`` are file names."""
    return {
        "program": {"kind": "python", "module": module},
        "packages": [{"file": name} for name in packages],
        "runtime": _encode_runtime(runtime),
        "environment": [[SLICE_VARIABLE, slice_name]] if slice_name else [],
        "gpus": gpus,
    }


def _encode_program(program: PythonTask | ContainerTask) -> JsonObject:
    if isinstance(program, PythonTask):
        started: JsonObject = {"command": list(program.command)} if program.command else {}
        return {"kind": "python", "module": program.module, "args": list(program.args), **started}
    return {
        "kind": "container",
        "image": program.image,
        "command": _words(program.command),
        "args": _words(program.args),
        "engine": program.engine,
        "pinned": program.pinned,
        "pull": program.pull,
    }


def _words(words: tuple[str, ...] | None) -> JsonValue:
    return None if words is None else list(words)


def _name_preparation(task: Task) -> str:
    """Returns a key of everything that determines an environment; empty: that isn't known.

    Tasks with the same key share one environment.
    """
    if task.runtime is None or not isinstance(task.program, PythonTask):
        return ""
    if not all(package.sha256 for package in task.packages):
        return ""
    parts = (
        _ENVIRONMENT_FORM,
        _encode_runtime(task.runtime),
        task.gpus,
        task.program.module,
        dict(task.environment).get(SLICE_VARIABLE),
        [[package.file, package.sha256] for package in task.packages],
    )
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _encode_allotment(allotment: Allotment | None) -> JsonObject | None:
    return None if allotment is None else {**vars(allotment)}


def _encode_runtime(runtime: Runtime) -> JsonObject:
    """Encodes a runtime, with the slices of each variant from small to large."""
    return {
        "name": runtime.name,
        "python": runtime.python,
        "variants": {
            variant: [_encode_slice(part) for part in slices]
            for variant, slices in runtime.variants.items()
        },
    }


def _encode_slice(part: Slice) -> JsonObject:
    return {
        "name": part.name,
        "lock_sha256": part.lock_sha256,
        "unless": list(part.unless),
        "fallback": part.fallback,
    }
