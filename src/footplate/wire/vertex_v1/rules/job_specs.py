"""Rules for the spec of a custom job, or of a tuning job's trials: programs and time limits."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator, Sequence

from footplate.domain import reduction
from footplate.domain.catalogue import Catalogue
from footplate.domain.errors import Violation
from footplate.wire.durations import check_limit, seconds
from footplate.wire.json_text import describe
from footplate.wire.shared_rules import check_disk, check_image, check_word, check_words
from footplate.wire.uris import check_directory, check_module, check_packages
from footplate.wire.vertex_v1.models import (
    ContainerSpec,
    CustomJobSpec,
    EnvVar,
    GcsDestination,
    LustreMount,
    NfsMount,
    PythonPackageSpec,
    Scheduling,
    WorkerPoolSpec,
)
from footplate.wire.vertex_v1.rules.machines import check_pool_machines
from footplate.wire.vertex_v1.rules.references import check_references

MAX_VARIABLES = 100
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def check_program(
    pool: WorkerPoolSpec, at: str, clouded: Callable[[str], bool]
) -> Iterator[Violation]:
    container, package = pool.container_spec, pool.python_package_spec
    unknown = clouded(f"{at}.containerSpec") or clouded(f"{at}.pythonPackageSpec")
    if (container is None) == (package is None) and (container is not None or not unknown):
        given = "none" if container is None else "both"
        yield Violation(at, f"{given} given; allowed: one of containerSpec, pythonPackageSpec")
    if container is not None:
        yield from _check_container(container, f"{at}.containerSpec")
    if package is not None:
        yield from _check_package(package, f"{at}.pythonPackageSpec")


def _check_container(container: ContainerSpec, at: str) -> Iterator[Violation]:
    if container.image_uri:
        yield from check_image(container.image_uri, f"{at}.imageUri")
    else:
        yield Violation(f"{at}.imageUri", "required: the URI of a container image")
    yield from check_words(container.command, f"{at}.command")
    yield from check_words(container.args, f"{at}.args")
    yield from _check_variables(container.env or (), f"{at}.env")


def _check_package(package: PythonPackageSpec, at: str) -> Iterator[Violation]:
    """Yields faults of a package; other checks look for the runtime of its image."""
    field = f"{at}.executorImageUri"
    if not package.executor_image_uri:
        yield Violation(field, "required: the URI of a prebuilt image")
    else:
        yield from check_image(package.executor_image_uri, field)
    yield from check_packages(package.package_uris, f"{at}.packageUris")
    yield from check_module(package.python_module, f"{at}.pythonModule")
    yield from check_words(package.args, f"{at}.args")
    yield from _check_variables(package.env or (), f"{at}.env")


def _check_variables(variables: Sequence[EnvVar], at: str) -> Iterator[Violation]:
    """Yields faults of variables; a missing value is empty, as proto3 omits empty values."""
    if len(variables) > MAX_VARIABLES:
        yield Violation(at, f"{len(variables)} given; allowed: at most {MAX_VARIABLES}")
    for index, variable in enumerate(variables[:MAX_VARIABLES]):
        field = f"{at}[{index}].name"
        allowed = "letters, digits and underscores, without a digit at the start"
        if not variable.name:
            yield Violation(field, f"required: {allowed}")
        elif not _VARIABLE.fullmatch(variable.name):
            yield Violation(field, f"{describe(variable.name)} given; allowed: {allowed}")
        yield from check_word(f"{variable.name}={variable.value or ''}", f"{at}[{index}].value")


def check_scheduling(scheduling: Scheduling, at: str) -> Iterator[Violation]:
    """Yields faults of time limits; a wait of 0s means no limit."""
    timeout, waiting = scheduling.timeout, scheduling.max_wait_duration
    if timeout:
        yield from check_limit(timeout, f"{at}.timeout")
    if waiting and seconds(waiting) != 0:
        yield from check_limit(waiting, f"{at}.maxWaitDuration")


MAX_POOLS = 4
MAX_REPLICAS = 10_000
"""Of one pool; more is a slip of the hand, and would be written out replica by replica."""


def check_job_spec(
    spec: CustomJobSpec,
    at: str,
    region: str,
    catalogue: Catalogue,
    clouded: Callable[[str], bool],
) -> Iterator[Violation]:
    """Yields faults of a job spec; ``at`` is its path in the request."""
    pools = spec.worker_pool_specs or []
    field = f"{at}.workerPoolSpecs"
    if not pools:
        yield Violation(field, f"required: 1 to {MAX_POOLS} worker pools")
    if len(pools) > MAX_POOLS:
        yield Violation(field, f"{len(pools)} given; allowed: at most {MAX_POOLS}")
    used = {
        f"{field}[{index}]": pool
        for index, pool in enumerate(pools[:MAX_POOLS])
        if index == 0 or not pool.unused
    }
    for index, (place, pool) in enumerate(used.items()):
        yield from _check_count(pool, f"{place}.replicaCount", primary=index == 0)
        if place != f"{field}[{reduction.POOL}]":
            yield from _check_no_reducer(pool, place, field)
        yield from check_program(pool, place, clouded)
        yield from check_storage(pool, place)
    machines = {place: pool.machine_spec for place, pool in used.items()}
    yield from check_pool_machines(machines, region, "parent", catalogue, clouded)
    yield from check_references(spec, at)
    if spec.base_output_directory is not None:
        yield from _check_output(spec.base_output_directory, f"{at}.baseOutputDirectory")
    if spec.scheduling is not None:
        yield from check_scheduling(spec.scheduling, f"{at}.scheduling")


def _check_count(pool: WorkerPoolSpec, field: str, *, primary: bool) -> Iterator[Violation]:
    """Yields faults of a pool's count; the primary pool has one replica, and may omit it."""
    count = pool.replica_count
    if primary:
        if count not in (None, 1):
            yield Violation(field, f"{count} given; allowed in the first pool: exactly 1")
    elif not count:
        allowed = "at least 1, or an empty object {} in place of an unused pool"
        yield Violation(field, f"{'nothing' if count is None else count} given; allowed: {allowed}")
    elif not 1 <= count <= MAX_REPLICAS:
        yield Violation(field, f"{count} given; allowed: 1 to {MAX_REPLICAS}")


def _check_no_reducer(pool: WorkerPoolSpec, place: str, field: str) -> Iterator[Violation]:
    image = pool.container_spec.image_uri if pool.container_spec else None
    if reduction.is_image(image or ""):
        yield Violation(
            f"{place}.containerSpec.imageUri",
            f"the image of Reduction Server given; allowed only in {field}[{reduction.POOL}]",
        )


def _check_output(directory: GcsDestination, at: str) -> Iterator[Violation]:
    field = f"{at}.outputUriPrefix"
    if directory.output_uri_prefix:
        yield from check_directory(directory.output_uri_prefix, field)
    else:
        yield Violation(field, "required: gs://BUCKET/PATH")


_DISK_TYPES = ("pd-ssd", "pd-standard", "hyperdisk-balanced")
_NFS, _LUSTRE = "/mnt/nfs/", "/mnt/lustre/"
_FOLDER = re.compile(r"(?!\.{1,2}(/|$))[^/\s]+(/(?!\.{1,2}(/|$))[^/\s]+)*")


def check_storage(pool: WorkerPoolSpec, at: str) -> Iterator[Violation]:
    if pool.disk_spec is not None:
        disk, field = pool.disk_spec, f"{at}.diskSpec"
        yield from check_disk(disk.boot_disk_type, disk.boot_disk_size_gb, _DISK_TYPES, field)
    nfs, lustre = pool.nfs_mounts or (), pool.lustre_mounts or ()
    for index, share in enumerate(nfs):
        yield from _check_nfs(share, f"{at}.nfsMounts[{index}]")
    for index, volume in enumerate(lustre):
        yield from _check_lustre(volume, f"{at}.lustreMounts[{index}]")
    points = [_below(share.mount_point, _NFS) for share in nfs]
    yield from _check_distinct(points, f"{at}.nfsMounts")
    points = [_below(volume.mount_point, _LUSTRE) for volume in lustre]
    yield from _check_distinct(points, f"{at}.lustreMounts")


def _check_nfs(share: NfsMount, at: str) -> Iterator[Violation]:
    yield from _check_present(share.server, f"{at}.server", "the address of the NFS server")
    yield from _check_present(share.path, f"{at}.path", "the path that the server exports")
    if share.path and not share.path.startswith("/"):
        yield Violation(
            f"{at}.path", (f"{describe(share.path)} given; allowed: a path that starts with /")
        )
    yield from _check_mount_point(share.mount_point, f"{at}.mountPoint", _NFS)


def _check_lustre(volume: LustreMount, at: str) -> Iterator[Violation]:
    address = f"{at}.instanceIp"
    yield from _check_present(volume.instance_ip, address, "the IP address of the instance")
    if volume.instance_ip and not _is_address(volume.instance_ip):
        given = f"{describe(volume.instance_ip)} given"
        yield Violation(address, f"{given}; allowed: an IP address, such as 10.0.0.2")
    wanted = "the unique identifier of the volume"
    yield from _check_present(volume.volume_handle, f"{at}.volumeHandle", wanted)
    yield from _check_present(volume.filesystem, f"{at}.filesystem", "the name of the file system")
    yield from _check_mount_point(volume.mount_point, f"{at}.mountPoint", _LUSTRE)


def _check_present(given: str | None, field: str, wanted: str) -> Iterator[Violation]:
    if not given:
        yield Violation(field, f"required: {wanted}")


def _check_mount_point(given: str | None, field: str, parent: str) -> Iterator[Violation]:
    """Yields a fault unless a text is a folder below ``parent``, which it may omit."""
    allowed = f"a folder below {parent}, such as data"
    if not given:
        yield Violation(field, f"required: {allowed}")
    elif not _FOLDER.fullmatch(_below(given, parent)):
        yield Violation(field, f"{describe(given)} given; allowed: {allowed}")


def _below(given: str | None, parent: str) -> str:
    return (given or "").removeprefix(parent).removesuffix("/")


def _check_distinct(points: Sequence[str], at: str) -> Iterator[Violation]:
    seen: set[str] = set()
    for index, point in enumerate(points):
        if point and point in seen:
            field = f"{at}[{index}].mountPoint"
            yield Violation(
                field, f"{describe(point)} given twice; allowed: one share for each mount point"
            )
        seen.add(point)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
