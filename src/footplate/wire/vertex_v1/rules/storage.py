"""Rules for disks and network shares."""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING

from footplate.domain.errors import Violation
from footplate.wire.json_text import describe
from footplate.wire.shared_rules import check_disk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from footplate.wire.vertex_v1.models import LustreMount, NfsMount, WorkerPoolSpec

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
