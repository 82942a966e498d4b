"""Assigns GPUs to replicas, with the variables that programs see.

No GPU is ever given to two replicas at once. A replica keeps its GPUs until its job has ended.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice

from footplate.domain.catalogue import Catalogue
from footplate.domain.jobs import JobSpec, MachineSpec
from footplate.domain.resources import GPUS
from footplate.domain.sites import Gpu, Mode, Site, gpus_of, tpus_of

ControlRequests = dict[str, tuple[str, int]]
"""By replica in order, the primary first: type and number of its GPUs. Others aren't in it."""

VISIBLE = "CUDA_VISIBLE_DEVICES"
"""Which GPUs a program sees; it numbers them from 0."""
_ORDER = "CUDA_DEVICE_ORDER"
"""By bus, as NVML counts; CUDA's own order puts the fastest first."""
_NO_TPU = {"JAX_PLATFORMS": "cpu", "PJRT_DEVICE": "CPU"}


def assign(
    spec: JobSpec, catalogue: Catalogue, site: Site, held: Collection[str]
) -> dict[str, tuple[str, ...]] | None:
    """Returns the ids of the GPUs for each replica that gets any; None: they aren't all free now.

    ``held`` are the GPUs of other jobs. In enforce mode each replica gets GPUs of the type and
    number of its machine. In emulate mode it gets GPUs of any model, the right type first; if the
    site has fewer than the job asks for, all of them are distributed one by one.
    """
    free = [gpu for gpu in site.gpus if gpu.id not in held]
    requested_devices = _requested_devices(spec, catalogue)
    if site.mode is Mode.ENFORCE:
        lacks_tpus = any(tpus_of(pool.machine, catalogue)[1] for pool in spec.pools)
        taken = None if lacks_tpus else _take_matching(requested_devices, free)
        if taken is None or any(
            len(taken[name]) < count for name, (_, count) in requested_devices.items()
        ):
            return None
    else:
        requested_devices = _share(requested_devices, len(site.gpus))
        if sum(count for _, count in requested_devices.values()) > len(free):
            return None
        taken = _take_any(requested_devices, free)
    order = {gpu.id: place for place, gpu in enumerate(site.gpus)}
    return {name: tuple(sorted(ids, key=order.__getitem__)) for name, ids in taken.items()}


def held_with(
    spec: JobSpec, given: Collection[str], catalogue: Catalogue, site: Site
) -> dict[str, int]:
    """Returns the amounts of the site that a job with the ``given`` GPUs holds.

    The GPUs count as they are now: an earlier server may have assigned other GPUs than the job
    asked for, when the site had another mode, other GPUs or another catalogue. If none were given,
    the reason is unknown (an older server may not have recorded them), so the amounts that the job
    asks for count.
    """
    held = dict(site.held_by(spec, catalogue))
    if not given:
        return held
    there = [gpu for gpu in site.gpus if gpu.id in given]
    if site.mode is Mode.EMULATE:
        held[GPUS] = len(there)
    else:
        for kind, _ in _requested_devices(spec, catalogue).values():
            held[kind] = 0
        held.update(Counter(gpu.accelerator for gpu in there if gpu.accelerator is not None))
    return {resource: amount for resource, amount in held.items() if amount}


def _requested_devices(spec: JobSpec, catalogue: Catalogue) -> ControlRequests:
    requested_devices: ControlRequests = {}
    for pool in spec.pools:
        control_request = gpus_of(pool.machine, catalogue)
        if control_request[1]:
            requested_devices.update(dict.fromkeys(pool.replica_names(), control_request))
    return requested_devices


def _share(requested_devices: ControlRequests, available: int) -> ControlRequests:
    """Distributes the available devices as evenly as possible."""
    granted: Counter[str] = Counter()
    most = max((count for _, count in requested_devices.values()), default=0)
    turns = (
        name
        for turn in range(most)
        for name, (_, count) in requested_devices.items()
        if count > turn
    )
    granted.update(islice(turns, available))
    return {
        name: (kind, granted[name])
        for name, (kind, _) in requested_devices.items()
        if granted[name]
    }


def _take_matching(requested_devices: ControlRequests, free: Sequence[Gpu]) -> dict[str, list[str]]:
    """Takes free GPUs of the requested types, fewer if there aren't enough."""
    stock: dict[str | None, list[str]] = {}
    for gpu in reversed(free):
        stock.setdefault(gpu.accelerator, []).append(gpu.id)
    taken: dict[str, list[str]] = {}
    for name, (kind, count) in requested_devices.items():
        left = stock.get(kind, [])
        taken[name] = [left.pop() for _ in range(min(count, len(left)))]
    return taken


def _take_any(requested_devices: ControlRequests, free: Sequence[Gpu]) -> dict[str, list[str]]:
    """Takes matching GPUs first, then any others; the caller makes sure that there are enough."""
    taken = _take_matching(requested_devices, free)
    used = {device for ids in taken.values() for device in ids}
    rest = iter([gpu.id for gpu in free if gpu.id not in used])
    for name, (_, count) in requested_devices.items():
        taken[name] += islice(rest, count - len(taken[name]))
    return taken


def done_without(spec: JobSpec, catalogue: Catalogue, site: Site) -> tuple[str, ...]:
    """Returns which of its accelerators the job lacks on the site, a sentence for each."""
    if site.mode is Mode.ENFORCE or site.engine is not None:
        return ()
    return (*_without_gpus(spec, catalogue, site), *_without_tpus(spec, catalogue))


def _without_gpus(spec: JobSpec, catalogue: Catalogue, site: Site) -> Iterator[str]:
    requested_devices = _requested_devices(spec, catalogue)
    wanted, granted = (
        _by_type(requested_devices),
        _by_type(_share(requested_devices, len(site.gpus))),
    )
    there = len(site.gpus)
    has = f"this machine has {'none' if not there else '1 GPU' if there == 1 else f'{there} GPUs'}"
    for kind, count in wanted.items():
        if not granted[kind]:
            yield f"the job runs without its {count} {kind}: {has}"
        elif granted[kind] < count:
            yield f"the job runs with {granted[kind]} of its {count} {kind}: {has}"
        if granted[kind] and all(gpu.simulated for gpu in site.gpus):
            yield f"the {kind} of the job are simulated: programs find no GPU"
        elif granted[kind] and all(gpu.accelerator != kind for gpu in site.gpus):
            models = ", ".join(sorted({gpu.model or "another model" for gpu in site.gpus}))
            yield f"the job gets {models}, which this machine has, instead of {kind}"


def _by_type(requested_devices: ControlRequests) -> Counter[str]:
    counts: Counter[str] = Counter()
    for kind, count in requested_devices.values():
        counts[kind] += count
    return counts


def _without_tpus(spec: JobSpec, catalogue: Catalogue) -> Iterator[str]:
    counts: Counter[str] = Counter()
    for pool in spec.pools:
        kind, count = tpus_of(pool.machine, catalogue)
        counts[kind] += count * pool.replica_count
    for kind, count in counts.items():
        if count:
            yield f"the job runs on the CPU without its {count} {kind}: this machine has no TPUs"


def variables(
    machine: MachineSpec,
    devices: Sequence[str],
    catalogue: Catalogue,
    site: Site,
    own: Mapping[str, str],
) -> dict[str, str]:
    """Returns a program's accelerator variables, which replace those of the job (``own``)."""
    assigned: dict[str, str] = {}
    if site.shows_gpus:
        assigned = {_ORDER: "PCI_BUS_ID", VISIBLE: ",".join(visible(devices, own.get(VISIBLE)))}
    if site.mode is Mode.EMULATE and site.engine is None and tpus_of(machine, catalogue)[1]:
        assigned.update(_NO_TPU)
    return assigned


def visible(devices: Sequence[str], wanted: str | None) -> tuple[str, ...]:
    """Returns the GPUs of a replica that its program can see.

    ``wanted`` is the job's own CUDA_VISIBLE_DEVICES, if it sets the variable. It numbers the
    replica's GPUs from 0, as on a machine that has no others. As in CUDA, the first number without
    a GPU ends the list. So the variable can hide GPUs, but never reach GPUs of other replicas.
    """
    if wanted is None:
        return tuple(devices)
    chosen: list[str] = []
    for word in wanted.split(","):
        number = word.strip()
        if not (number.isascii() and number.isdigit()) or len(number) > 9:
            break
        if int(number) >= len(devices) or devices[int(number)] in chosen:
            break
        chosen.append(devices[int(number)])
    return tuple(chosen)


def finds_gpus(
    machine: MachineSpec, devices: Sequence[str], catalogue: Catalogue, site: Site
) -> bool:
    """Returns whether a program finds a GPU: one of ``devices``, or one that an engine gives it."""
    if site.engine is not None:
        return gpus_of(machine, catalogue)[1] > 0
    return are_real(devices, site)


def are_real(devices: Sequence[str], site: Site) -> bool:
    """Returns whether a program finds a real GPU among the devices."""
    return any(gpu.id in devices and not gpu.simulated for gpu in site.gpus)
