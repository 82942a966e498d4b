"""The task of a replica: what the server tells its supervisor to do."""

from __future__ import annotations

from footplate.protocol.message import Message

SLICE_VARIABLE = "FOOTPLATE_RUNTIME_SLICE"
"""By it a job chooses the slice of its runtime."""


class PythonTask(Message, kind="python"):
    """The program ``python -m module args``, or ``command args`` with Python on its PATH."""

    module: str = ""
    args: tuple[str, ...] = ()
    command: tuple[str, ...] = ()


class CommandTask(Message, kind="command"):
    """A command line of the machine's own, without a runtime."""

    argv: tuple[str, ...]


class ContainerTask(Message, kind="container"):
    """A container of ``image``, run by the engine at the socket ``engine``; if empty, by the
    node's.

    ``command`` and ``args`` are the job's own, expanded; None means those of the image. ``pinned``
    is the digest or id of the image that the job's other replicas run; empty if not known yet.
    ``pull`` is ``always`` or ``missing``.
    """

    image: str
    command: tuple[str, ...] | None = None
    args: tuple[str, ...] | None = None
    engine: str = ""
    pinned: str = ""
    pull: str = "missing"


class Package(Message):
    """A package of the user's; ``file`` is the name of its file.

    ``sha256`` is the digest of its bytes in hexadecimal; empty if not known.
    """

    file: str
    sha256: str = ""


class Slice(Message):
    """A complete set of locked packages: a whole runtime, or a part that often is enough.

    A slice serves programs whose sources and requirements contain none of the words in ``unless``.
    A ``fallback`` serves only if the slice before it isn't available.
    """

    name: str
    lock_sha256: str
    unless: tuple[str, ...] = ()
    fallback: bool = False


class Runtime(Message):
    """A runtime of the catalogue. ``variants`` leads from ``cpu``, and perhaps ``gpu``, to slices
    in the order of their size, the smallest first.
    """

    name: str
    python: str
    variants: dict[str, tuple[Slice, ...]]


class Allotment(Message):
    """The size of a replica's machine, for enforcing limits."""

    machine_type: str
    vcpus: int
    memory_mb: int
    disk_gb: int = 0
    """0: no limit."""


class Address(Message):
    """A replica's network address; ``open_ports`` are other free ports than ``port``."""

    host: str
    port: int
    open_ports: tuple[int, ...] = ()


class BoundBucket(Message):
    """A bucket whose folder, ``path``, isn't in the directory with all other buckets.

    ``copied``: the folder is a copy, which is fetched before the program starts and saved after its
    end.
    """

    name: str
    path: str
    read_only: bool = False
    copied: bool = False


class Task(Message):
    """The task of one supervisor.

    ``environment`` is expanded and in order; ``directories`` are created before the program starts.
    ``gpus`` means that the program has GPUs, and gets the runtime made for them. ``allotment`` is
    the most that it may use, if the host can limit it; None means no limits.
    """

    program: PythonTask | CommandTask | ContainerTask
    attempt_id: str = ""
    attempt: int = 1
    replica: str = ""
    job: str = ""
    packages: tuple[Package, ...] = ()
    preparation: str = ""
    """Names all that its environment is made from; empty: that isn't known."""
    runtime: Runtime | None = None
    """None: its program is a container."""
    environment: tuple[tuple[str, str], ...] = ()
    directories: tuple[str, ...] = ()
    time_limit_s: float | None = None
    stop_grace_s: float = 10.0
    heartbeat_s: float = 30.0
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

    @property
    def variables(self) -> dict[str, str]:
        """The program's variables; a later one replaces an earlier of the same name."""
        return dict(self.environment)

    @property
    def module(self) -> str:
        """The Python module that the program runs; empty if it runs none."""
        return self.program.module if isinstance(self.program, PythonTask) else ""


class ContainerWords(Message):
    """The command line of a container, with the values that are only known when its gang is
    ready.
    """

    command: tuple[str, ...] | None = None
    args: tuple[str, ...] | None = None


class Start(Message):
    """The answer to a replica that is ready: whether it may start its program.

    If it may, ``environment`` is set, expanded and in order; otherwise ``awaited`` names the
    replicas that aren't ready yet.
    """

    environment: tuple[tuple[str, str], ...] | None = None
    awaited: tuple[str, ...] | None = None
    program: ContainerWords | None = None
