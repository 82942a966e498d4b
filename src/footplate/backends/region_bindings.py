"""Bindings of regions to backends, from the setting ``regions``."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from footplate.backends.region_keys import (
    ANY_MACHINE,
    BACKENDS,
    COPIED,
    KEYS,
    NEEDED,
    PREFERRED,
    SHARED,
    SLURM,
)
from footplate.backends.slurm import rest_settings
from footplate.domain.catalogue import Catalogue
from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.formatting import joined, nearest, quoted
from footplate.domain.launchers import LEASE_MARGIN_S, LEASE_S
from footplate.domain.machines import unknown_region


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
    keep_warm_s: float | None = None
    """How long a job of Slurm's waits for the next replica when its own has ended; None: it ends.
    """
    fence: tuple[str, ...] = ()
    """The administrator's command that ends all that runs on a node, whose name it gets."""

    @property
    def container_engine(self) -> str:
        """Returns the path of the engine's socket on the nodes, '' for the usual ones, or the name
        of a command.
        """
        return self.containers if isinstance(self.containers, str) else ""


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
    keys = KEYS[str(backend)]
    for key, rule in NEEDED[str(backend)].items():
        if key not in table:
            yield Violation(f"{place}.{key}", f"required; allowed: {rule}")
    for key, value in table.items():
        if key == "backend":
            continue
        if key in keys:
            yield from keys[key](f"{place}.{key}", value)
            continue
        engines = [name for name in BACKENDS if key in KEYS[name]]
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
        table.get("lease_s", LEASE_S) + LEASE_MARGIN_S,
    )
    if lost_s and lost_s < end_s and table.get("files") != COPIED and "fence" not in table:
        # What runs there may write to shared files until its launcher's lease is over.
        text = f"{lost_s} given, which is less than lease_s and {LEASE_MARGIN_S:g} s"
        rule = f'{end_s:g} or more; less with fence, or with files = "copied"'
        yield Violation(f"{place}.node_lost_s", f"{text}; allowed: {rule}")
