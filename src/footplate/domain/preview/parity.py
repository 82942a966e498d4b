"""Predicts whether Google's service would accept a job. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from footplate.domain.catalogue import AcceleratorKind, Catalogue, MachineType
from footplate.domain.cluster_roles import ClusterRole, role_of
from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.formatting import shortened
from footplate.domain.jobs import ContainerProgram, JobSpec, PythonProgram, WorkerPool
from footplate.domain.machines import accelerators_of
from footplate.domain.preview.pool_messages import for_pools
from footplate.domain.submission import Submission

MIN_VERSIONS = {"tf": (2, 3), "pytorch": (1, 4)}
"""The first prebuilt images of each framework that have what it needs."""
_IMAGE = re.compile(
    r"/training/(?P<framework>[a-z-]+)-(?P<variant>cpu|gpu)\.(?P<major>\d{1,9})-(?P<minor>\d{1,9})"
)
_WANTED = "prebuilt GPU images of TensorFlow 2.3, PyTorch 1.4 and later"


def reducer_doubts(pools: Sequence[WorkerPool], catalogue: Catalogue) -> Iterator[str]:
    """Yields doubts whether Google accepts the reduction servers; nothing if the job has none."""
    if not any(role_of(pool) is ClusterRole.REDUCER and pool.replica_count for pool in pools):
        return
    workers = (
        p
        for p in pools
        if p.replica_count and role_of(p) in (ClusterRole.PRIMARY, ClusterRole.WORKER)
    )
    yield from for_pools(workers, lambda pool: _pool_doubts(pool, catalogue))


def _pool_doubts(pool: WorkerPool, catalogue: Catalogue) -> Iterator[str]:
    if not _has_gpu(pool, catalogue):
        yield "Google's Reduction Server requires workers with GPUs that all-reduce by NCCL"
    image = _image(pool)
    match = _IMAGE.search(image)
    if match is None:
        if isinstance(pool.program, ContainerProgram):
            yield (
                "Google's Reduction Server requires NCCL 2.7 or later and the package "
                "google-reduction-server in a container of your own"
            )
        return
    least = MIN_VERSIONS.get(match["framework"])
    version = int(match["major"]), int(match["minor"])
    if match["variant"] == "cpu" or least is None or version < least:
        name = shortened(image.rpartition("/")[2])
        yield (
            f"Google's Reduction Server requires NCCL, which {_WANTED} have, and {name} is "
            "none of these"
        )


def _image(pool: WorkerPool) -> str:
    program = pool.program
    if isinstance(program, ContainerProgram):
        return program.image_uri
    return program.runtime.partition(":")[2]


def _has_gpu(pool: WorkerPool, catalogue: Catalogue) -> bool:
    name, count = accelerators_of(pool.machine, catalogue)
    known = catalogue.accelerators.get(name or "")
    return known is not None and known.kind is AcceleratorKind.GPU and count > 0


LAST_RUNTIME = (2, 11)
"""The last runtime version of AI Platform Training. Source: its runtime version list."""
LAST_IMAGE_PYTHON = (3, 10)
"""Of the newest prebuilt training images that are known here. Source: their list."""

_SIZE = re.compile(r"(?:n1|n2|n2d|e2)-(standard|highcpu)-([0-9]{1,4})")
_LEAST_VCPUS = {"standard": 4, "highcpu": 16}
"""Of the machine types that training has. Source: both services' pages on machine types."""

REFUSED_ALIKE = "Google's service would refuse the job for the same reasons"


@dataclass(frozen=True)
class Parity:
    """A prediction of whether Google's service would accept a job.

    ``accepted`` follows the rules on Google's pages; None: the rules don't decide. ``reasons``
    speak for or against acceptance, or name differences. Quotas, permissions, and the existence of
    buckets and packages aren't considered.
    """

    accepted: bool | None
    reasons: tuple[str, ...] = ()


def parity_of(
    submission: Submission, catalogue: Catalogue, absent: Sequence[Violation] = ()
) -> Parity:
    """Predicts whether Google's service would accept a submission.

    ``absent`` are violations about things that the job names and that this service lacks or can't
    use; Google's service may well have them.
    """
    spec = submission.spec
    lacks, doubts = tuple(_lacks(spec, catalogue)), tuple(_doubts(spec, catalogue))
    same = (REFUSED_ALIKE,) if submission.violations else ()
    away = (
        f"this service refuses {violation.field}, but Google's service may accept it"
        for violation in absent
    )
    reasons = (*same, *submission.parity, *lacks, *doubts, *away)
    accepted: bool | None = None if reasons else True
    if submission.violations or lacks or _differs(spec):
        accepted = False
    return Parity(accepted, reasons)


def _differs(spec: JobSpec) -> bool:
    """Returns whether Google's service certainly refuses the job, by rules stated before."""
    paths = any(not directory.uri.startswith("gs://") for directory in spec.directories)
    return paths or any(runtime in ("version:/", "version:") for runtime in _runtimes(spec))


def _lacks(spec: JobSpec, catalogue: Catalogue) -> Iterator[str]:
    """Yields the regions, machines and other items that Google's catalogue certainly lacks."""
    own = "is only in this service's catalogue"
    machines = dict.fromkeys(pool.machine.machine_type for pool in spec.pools)
    devices = dict.fromkeys(accelerators_of(pool.machine, catalogue)[0] for pool in spec.pools)
    for kind, names in (
        ("region", (spec.region,)),
        ("machine type", machines),
        ("accelerator", devices),
    ):
        yield from (f"{kind} {name} {own}" for name in names if name in catalogue.own)
    for runtime in _runtimes(spec):
        name = _name(runtime)
        if name in catalogue.own:
            yield f"runtime {name} {own}"
        elif runtime.startswith("version:") and _number(name) > LAST_RUNTIME:
            last = ".".join(str(number) for number in LAST_RUNTIME)
            yield f"runtime version {name} is newer than Google's last one, {last}"


def _doubts(spec: JobSpec, catalogue: Catalogue) -> Iterator[str]:
    """Yields doubts: items that Google may have by now, and rules that its pages leave open."""
    for name in dict.fromkeys(
        p.machine.machine_type for p in spec.pools if p.machine.accelerator_type is None
    ):
        kind = catalogue.machine_types.get(name)
        if kind is not None and name not in catalogue.own and (made := _made_with(kind)):
            yield (
                f"machine type {name} always has {made}, but the job asks for no accelerators; "
                "Footplate doesn't know whether Google's service accepts that"
            )
    for name in dict.fromkeys(pool.machine.machine_type for pool in spec.pools):
        if _is_small(name) and name not in catalogue.own:
            yield (
                f"machine type {name} isn't in Google's list for training, which begins with "
                "n1-standard-4, n1-highmem-2 and n1-highcpu-16"
            )
    yield from reducer_doubts(spec.pools, catalogue)
    for runtime in _runtimes(spec):
        name = _name(runtime)
        if not runtime.startswith("image") or name in catalogue.own:
            continue
        try:
            python = catalogue.runtimes.resolve(runtime, "").python
        except InvalidArgument:
            continue
        if _number(python) > LAST_IMAGE_PYTHON:
            yield f"Footplate doesn't know whether Google has the image {name}, for Python {python}"


def _is_small(machine_type: str) -> bool:
    """Returns whether a machine type is smaller than those that the training services offer."""
    match = _SIZE.fullmatch(machine_type)
    return match is not None and int(match[2]) < _LEAST_VCPUS[match[1]]


def _made_with(kind: MachineType) -> str | None:
    """Returns the only accelerators that a machine type allows, as ``1 NVIDIA_L4``; else None."""
    takes = [f"{count} {name}" for name, counts in kind.accelerators.items() for count in counts]
    return takes[0] if len(takes) == 1 else None


def _runtimes(spec: JobSpec) -> tuple[str, ...]:
    """Returns the runtimes of Python programs, each once, as they were asked for."""
    programs = (pool.program for pool in spec.pools)
    return tuple(dict.fromkeys(p.runtime for p in programs if isinstance(p, PythonProgram)))


def _name(runtime: str) -> str:
    """Returns a runtime's short name.

    It is ``2.21`` of ``version:2.21/3.11``, and ``tf-cpu.2-21.py311`` of an image's URI.
    """
    kind, _, name = runtime.partition(":")
    if kind == "version":
        return name.partition("/")[0]
    return name.rpartition("/")[2].partition("@")[0].partition(":")[0]


def _number(version: str) -> tuple[int, int]:
    """Returns the version as two numbers; versions in another form count as the oldest."""
    match = re.fullmatch(r"([0-9]{1,9})\.([0-9]{1,9})", version)
    return (int(match[1]), int(match[2])) if match else (0, 0)
