"""Bindings of regions to backends, from the setting ``regions``."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from footplate.backends.engine.backend import DEFAULT_LEASE_S, DEFAULT_MARGIN_S
from footplate.backends.slurm import rest_settings
from footplate.backends.slurm.job_script import CHOSEN
from footplate.containers.discovery import COMMANDS
from footplate.domain.catalogue import Catalogue
from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.formatting import joined, nearest, quoted
from footplate.domain.machines import unknown_region

_Check = Callable[[str, object], Iterator[Violation]]

LOCAL, SLURM, KUBERNETES, RAY = "local", "slurm", "kubernetes", "ray"
BACKENDS = (LOCAL, SLURM, KUBERNETES, RAY)
ANY_MACHINE = "*"
MAX_REPLICAS = 100_000
STRATEGIES = ("PACK", "SPREAD", "STRICT_PACK", "STRICT_SPREAD")
SHARED, COPIED = "shared", "copied"
FILES = (SHARED, COPIED)
REQUIRED, PREFERRED = "required", "preferred"
TOPOLOGY_MODES = (REQUIRED, PREFERRED)
MAX_LEASE_S = 86_400
_NOT_OF_ENV = ("PYTHONHOME", "PYTHONPATH")
"""Variables that would keep the Python of an environment from finding its packages."""
MIN_LOST_S = 40
"""Launchers call every 20 s, and may find the server standing still for another 15."""
_URL = re.compile(r"https?://[^/\s?#@]+(?:/[^\s?#]*)?")
_LABEL = re.compile(r"[A-Za-z0-9._/-]+=[A-Za-z0-9._-]*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LABEL_KEY = re.compile(
    r"([a-z0-9][a-z0-9.-]{0,252}/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?"
)
_NAMESPACE = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_RESOURCE = re.compile(r"[A-Za-z0-9._:-]+=[0-9]+(?:\.[0-9]+)?")


@dataclass(frozen=True)
class RegionBinding:
    """A region's part of an engine. A field of None means the engine's own default.

    ``machines`` tells how to request a machine, by machine type or ``*`` for all others: options of
    Slurm (``--constraint=c8``), labels of Kubernetes nodes (``pool=large``), or resources of Ray
    (``pool_large=1``). ``accelerators`` has the engine's names for them (``gpu:t4``).
    """

    name: str
    backend: str
    partition: str | None = None
    account: str | None = None
    qos: str | None = None
    scratch: str | None = None
    """A folder of the nodes' own, in which replicas run."""
    shared: str | None = None
    """A folder that all nodes see at the same path, in which environments are kept."""
    containers: bool | str = False
    """Whether the nodes have an engine for container images, or the path of its socket, or the name
    of the command that runs images without one.
    """
    python: str = "python3"
    """The interpreter that runs the launcher on the nodes."""
    lease_s: float | None = None
    """After so long without an answer from the server a launcher ends its program."""
    max_replicas: int | None = None
    """How many are in the engine at once, waiting or running; further jobs wait here."""
    machines: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    accelerators: Mapping[str, str] = field(default_factory=dict)
    kubeconfig: str | None = None
    """None: as kubectl finds it, or the service account of the Pod that the server runs in."""
    context: str | None = None
    namespace: str | None = None
    namespaces: Mapping[str, str] = field(default_factory=dict)
    """The namespaces of projects; jobs of all others run in ``namespace``."""
    image: str | None = None
    """The image of Pods, with Python 3.8 or later."""
    pod_template: str | None = None
    """A file with a Pod, around what is Footplate's."""
    queue: str | None = None
    """The queue of Kueue."""
    topology: str | None = None
    """The label of nodes whose value all Pods of a job share, such as that of the zone."""
    topology_mode: str = PREFERRED
    address: str | None = None
    """The URL of Ray's dashboard."""
    strategy: str = "PACK"
    """How Ray places the replicas of a job."""
    reserve: bool = True
    """Whether replicas reserve the processors and the memory of their machine types."""
    files: str = SHARED
    """How nodes see buckets: as the server's own folders, at the same path, or as copies."""
    slurmrestd: str | None = None
    """The URL or the socket of Slurm's REST API; None: Slurm's commands are used."""
    token_file: str | None = None
    """The file with the token of ``user`` for it, or with a bearer token for Ray's dashboard."""
    user: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables of the region's jobs."""
    prologue: str | None = None
    """Lines of shell that run before the launchers of a job."""
    projects: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Slurm's ``account``, ``qos`` and the like of single projects."""
    admit: tuple[str, ...] = ()
    """Those that a job's label may say."""
    node_lost_s: float | None = None
    """A node whose launcher hasn't called the server for so long is lost."""
    fence: tuple[str, ...] = ()
    """The administrator's command that ends all that runs on a node, whose name it gets."""

    @property
    def container_engine(self) -> str:
        """Returns the path of the engine's socket on the nodes, '' for the usual ones, or the name
        of a command.
        """
        return self.containers if isinstance(self.containers, str) else ""

    def options_for(self, machine_type: str) -> tuple[str, ...] | None:
        """Returns the engine's options for a machine type; None if the region doesn't offer it.

        Without any mapping it offers all machine types, by their vCPUs and memory alone.
        """
        if not self.machines:
            return ()
        return self.machines.get(machine_type, self.machines.get(ANY_MACHINE))


def read_region_bindings(value: object) -> tuple[RegionBinding, ...]:
    """Reads tables such as ``{name = "europe-west4", backend = "slurm", partition = "gpu"}``.

    Doesn't check names against the catalogue, which isn't known here. Raises InvalidArgument, with
    all faults, or TypeError.
    """
    if not isinstance(value, list) or not all(isinstance(table, dict) for table in value):
        raise TypeError("[[regions]] tables in the file")
    violations = [wrong for index, table in enumerate(value) for wrong in _check(index, table)]
    if not violations:
        violations = [w for index, table in enumerate(value) for w in _check_rest(index, table)]
    names = [table.get("name") for table in value]
    for index, name in enumerate(names):
        if isinstance(name, str) and name in names[:index]:
            first = f"{name!r} given, which regions[{names.index(name)}] names, too"
            violations.append(
                Violation(f"regions[{index}].name", f"{first}; allowed: each region once")
            )
    if violations:
        raise InvalidArgument.of(tuple(violations))
    return tuple(_make(table) for table in value)


def check_names(bindings: Sequence[RegionBinding], catalogue: Catalogue) -> None:
    """Raises InvalidArgument with all names that the catalogue doesn't have."""
    violations = []
    for index, binding in enumerate(bindings):
        place = f"regions[{index}]"
        if binding.name not in catalogue.regions:
            violations.append(Violation(f"{place}.name", unknown_region(binding.name, catalogue)))
        for key, given, known, kind in (
            ("machines", binding.machines, catalogue.machine_types, "machine type"),
            ("accelerators", binding.accelerators, catalogue.accelerators, "accelerator"),
        ):
            for name in given:
                if name not in known and not (key == "machines" and name == ANY_MACHINE):
                    near = nearest(name, known, f"{kind}s")
                    text = f"{quoted(name)} given, which is not a {kind} of the catalogue; {near}"
                    violations.append(Violation(f"{place}.{key}", text))
    if violations:
        raise InvalidArgument.of(tuple(violations))


def _make(table: Mapping[str, Any]) -> RegionBinding:
    options = {name: tuple(shlex.split(v)) for name, v in table.get("machines", {}).items()}
    admit, fence = tuple(table.get("admit", ())), tuple(shlex.split(table.get("fence", "")))
    return RegionBinding(**{**table, "machines": options, "admit": admit, "fence": fence})


def _check(index: int, table: Mapping[str, object]) -> Iterator[Violation]:
    place, backend = f"regions[{index}]", table.get("backend")
    if backend not in BACKENDS:
        given = "required" if backend is None else f"{backend!r} given"
        yield Violation(f"{place}.backend", f"{given}; allowed: {', '.join(BACKENDS)}")
        return
    keys = _KEYS[str(backend)]
    for key, rule in _REQUIRED[str(backend)].items():
        if key not in table:
            yield Violation(f"{place}.{key}", f"required; allowed: {rule}")
    for key, value in table.items():
        if key == "backend":
            continue
        if key in keys:
            yield from keys[key](f"{place}.{key}", value)
            continue
        engines = [name for name in BACKENDS if key in _KEYS[name]]
        if engines:
            text = f"{value!r} given; only regions with the backend {joined(engines)} have this key"
            yield Violation(f"{place}.{key}", text)
        else:
            near = nearest(key, ("backend", *keys), "keys")
            yield Violation(f"{place}.{key}", f"no such key; {near}")


def _check_rest(index: int, table: Mapping[str, Any]) -> Iterator[Violation]:
    """Yields the conflicts between keys that are each valid."""
    place = f"regions[{index}]"
    if "topology_mode" in table and "topology" not in table:
        rule = "only beside topology, such as topology.kubernetes.io/zone"
        given = f"{table['topology_mode']!r} given without topology"
        yield Violation(f"{place}.topology_mode", f"{given}; allowed: {rule}")
    if table["backend"] == SLURM:
        machines = _make(table).machines
        yield from rest_settings.check_together(place, table, machines)
    lost_s, end_s = (
        table.get("node_lost_s"),
        table.get("lease_s", DEFAULT_LEASE_S) + DEFAULT_MARGIN_S,
    )
    if lost_s and lost_s < end_s and table.get("files") != COPIED and "fence" not in table:
        # What runs there may write to shared files until its launcher's lease is over.
        text = f"{lost_s} given, which is less than lease_s and {DEFAULT_MARGIN_S:g} s"
        rule = f'{end_s:g} or more; less with fence, or with files = "copied"'
        yield Violation(f"{place}.node_lost_s", f"{text}; allowed: {rule}")


def _rule(is_good: Callable[[object], bool], rule: str) -> _Check:
    def check(place: str, value: object) -> Iterator[Violation]:
        if not is_good(value):
            yield Violation(place, f"{value!r} given; allowed: {rule}")

    return check


def _is_name(value: object) -> bool:
    """Returns whether the value can be used in an option as it is: one printable word."""
    return isinstance(value, str) and value.isprintable() and len(value.split()) == 1


def _is_path(value: object) -> bool:
    return isinstance(value, str) and value.isprintable() and value.startswith("/")


def _is_label_key(value: object) -> bool:
    return isinstance(value, str) and _LABEL_KEY.fullmatch(value) is not None


def _is_url(value: object) -> bool:
    return isinstance(value, str) and _URL.fullmatch(value) is not None


def _is_whole(value: object, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most


def _is_lease(value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 5 <= value <= MAX_LEASE_S  # type: ignore[operator]  # it is a number


def _is_lost(value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and MIN_LOST_S <= value <= MAX_LEASE_S  # type: ignore[operator]  # it is one


def _is_program(value: object) -> bool:
    """Returns whether the value is a path of a program, with arguments in shell quoting."""
    try:
        return _is_path(value) and bool(shlex.split(str(value)))
    except ValueError:
        return False


def _check_machines(rule: str, fits: Callable[[list[str]], bool]) -> _Check:
    def check(place: str, value: object) -> Iterator[Violation]:
        if not isinstance(value, dict) or not value:
            text = f'{value!r} given; allowed: a table of machine types such as "n1-standard-8"'
            yield Violation(place, f"{text} = {rule}")
            return
        for name, options in value.items():
            try:
                words = shlex.split(options) if isinstance(options, str) else None
            except ValueError as error:
                text = (
                    f"{options!r} given, which can't be split into words: {error}; allowed: quotes "
                    "in pairs"
                )
                yield Violation(f"{place}.{name}", text)
                continue
            if words is None or not fits(words):
                text = f'{options!r} given; allowed: {rule}, or "" for none'
                yield Violation(f"{place}.{name}", text)

    return check


def _are_options(words: list[str]) -> bool:
    return not words or words[0].startswith("-")


def _are_labels(words: list[str]) -> bool:
    return all(_LABEL.fullmatch(word) for word in words)


def _are_resources(words: list[str]) -> bool:
    return all(_RESOURCE.fullmatch(word) for word in words)


def _check_accelerators(place: str, value: object) -> Iterator[Violation]:
    if not isinstance(value, dict) or not value:
        rule = 'a table of accelerators such as "NVIDIA_TESLA_T4" = "gpu:t4"'
        yield Violation(place, f"{value!r} given; allowed: {rule}")
        return
    for name, resource in value.items():
        if not _is_name(resource):
            rule = "the engine's name of the accelerator, such as gpu:t4"
            yield Violation(f"{place}.{name}", f"{resource!r} given; allowed: {rule}")


def _check_env(place: str, value: object) -> Iterator[Violation]:
    if not isinstance(value, dict) or not value:
        rule = 'a table of variables such as NCCL_SOCKET_IFNAME = "ib0"'
        yield Violation(place, f"{value!r} given; allowed: {rule}")
        return
    for name, text in value.items():
        if not _VARIABLE.fullmatch(name) or name.startswith("FOOTPLATE_") or name in _NOT_OF_ENV:
            rule = f"a variable's name, but no FOOTPLATE_..., {joined(_NOT_OF_ENV)}"
            yield Violation(place, f"{quoted(name)} given; allowed: {rule}")
        elif not isinstance(text, str) or "\0" in text:
            yield Violation(f"{place}.{name}", f"{text!r} given; allowed: a text")


def _check_projects(place: str, value: object) -> Iterator[Violation]:
    rule = f'a table for each project, with {joined(CHOSEN)}, such as {{account = "physics"}}'
    tables = value if isinstance(value, dict) else {}
    if not tables or not all(isinstance(table, dict) and table for table in tables.values()):
        yield Violation(place, f"{value!r} given; allowed: {rule}")
        return
    for project, table in tables.items():
        for name, word in table.items():
            if name not in CHOSEN:
                allowed = f"allowed: {joined(CHOSEN)}"
                yield Violation(f"{place}.{project}.{name}", f"no such key; {allowed}")
            elif not _is_name(word):
                yield Violation(f"{place}.{project}.{name}", f"{word!r} given; allowed: a name")


def _check_admit(place: str, value: object) -> Iterator[Violation]:
    if not isinstance(value, list):
        yield Violation(place, f"{value!r} given; allowed: a list with {joined(CHOSEN)}")
        return
    for name in value:
        if name not in CHOSEN:
            yield Violation(place, f"{name!r} given; allowed: {joined(CHOSEN)}")


def _check_namespaces(place: str, value: object) -> Iterator[Violation]:
    if not isinstance(value, dict) or not value:
        rule = 'a table of projects such as "my-project" = "team-a"'
        yield Violation(place, f"{value!r} given; allowed: {rule}")
        return
    for project, namespace in value.items():
        if not isinstance(namespace, str) or not _NAMESPACE.fullmatch(namespace):
            rule = "a namespace of Kubernetes, such as team-a"
            yield Violation(f"{place}.{project}", f"{namespace!r} given; allowed: {rule}")


_word, _path = _rule(_is_name, "a name"), _rule(_is_path, "an absolute path")
_NAME = {"name": _rule(_is_name, "a region of the catalogue")}
_NODES: dict[str, _Check] = {
    "scratch": _path,
    "shared": _path,
    "files": _rule(lambda value: value in FILES, joined(FILES)),
    "python": _rule(_is_name, "a command, or the path of a program on the nodes"),
    "lease_s": _rule(_is_lease, f"a number of seconds from 5 to {MAX_LEASE_S}"),
    "node_lost_s": _rule(_is_lost, f"a number of seconds from {MIN_LOST_S} to {MAX_LEASE_S}"),
    "fence": _rule(_is_program, "an absolute path of a program, with arguments in shell quoting"),
    "max_replicas": _rule(
        lambda value: _is_whole(value, MAX_REPLICAS), f"a whole number from 1 to {MAX_REPLICAS}"
    ),
    "accelerators": _check_accelerators,
    "env": _check_env,
}
_containers = _rule(
    lambda value: isinstance(value, bool) or value in tuple(COMMANDS) or _is_path(value),
    f"true, false, {', '.join(COMMANDS)}, or the path of the container engine's socket on the "
    "nodes",
)
_reserve = _rule(lambda value: isinstance(value, bool), "true or false")
_KEYS: dict[str, dict[str, _Check]] = {
    LOCAL: _NAME,
    SLURM: {
        **_NAME,
        **_NODES,
        **dict.fromkeys(("partition", "account", "qos", "user"), _word),
        "slurmrestd": _rule(rest_settings.is_address, rest_settings.RULE),
        "token_file": _path,
        "containers": _containers,
        "projects": _check_projects,
        "admit": _check_admit,
        "prologue": _rule(
            lambda value: isinstance(value, str) and bool(value.strip()) and "\0" not in value,
            "lines of shell such as 'module load cuda'",
        ),
        "machines": _check_machines('options of sbatch such as "--constraint=c8"', _are_options),
    },
    KUBERNETES: {
        **_NAME,
        **_NODES,
        **dict.fromkeys(("kubeconfig", "pod_template"), _path),
        **dict.fromkeys(("context", "namespace", "image", "queue"), _word),
        "namespaces": _check_namespaces,
        "topology": _rule(_is_label_key, "a label of nodes, such as topology.kubernetes.io/zone"),
        "topology_mode": _rule(lambda value: value in TOPOLOGY_MODES, joined(TOPOLOGY_MODES)),
        "reserve": _reserve,
        "machines": _check_machines('labels of nodes such as "pool=large"', _are_labels),
    },
    RAY: {
        **_NAME,
        **_NODES,
        "address": _rule(_is_url, "the URL of Ray's dashboard, such as http://10.0.0.7:8265"),
        "token_file": _path,
        "containers": _containers,
        "strategy": _rule(lambda value: value in STRATEGIES, joined(STRATEGIES)),
        "reserve": _reserve,
        "machines": _check_machines('resources such as "pool_large=1"', _are_resources),
    },
}
_REGION = "a region of the catalogue"
_REQUIRED = {
    LOCAL: {"name": _REGION},
    SLURM: {"name": _REGION},
    KUBERNETES: {"name": _REGION},
    RAY: {"name": _REGION, "address": "the URL of Ray's dashboard, such as http://10.0.0.7:8265"},
}
