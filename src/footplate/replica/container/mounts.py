"""The mounts of a container: buckets, the job's directories, the metrics file."""

from __future__ import annotations

import os
import stat

from footplate.replica.bucket_directories import find_bound, find_buckets, find_copies
from footplate.replica.isolation.hidden_paths import find_records, is_below
from footplate.replica.realpath import find_real
from footplate.safe_path import PLACE, ROOT, directory, open_directory, split

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Iterable, Sequence

    from footplate.replica.context import Context

BUCKETS = "/gcs"
HYPERTUNE_DEFAULT = "/tmp/hypertune"  # noqa: S108  cloudml-hypertune's own, inside the container
_OPEN = 0o777
_DEFAULT_ACL = "system.posix_acl_default"
_ACL = b"\x02\x00\x00\x00" + b"".join(
    tag.to_bytes(2, "little") + (7).to_bytes(2, "little") + b"\xff\xff\xff\xff"
    for tag in (0x01, 0x04, 0x20)  # owner, group, others: each may read, write and enter
)
"""Version 2 of POSIX ACLs as an extended attribute (linux/posix_acl_xattr.h)."""


def find_mounts(context: Context, hypertune: str) -> list[dict[str, Any]]:
    """Mounts of the Docker API: each with its place inside, some to read only.

    An engine takes paths, and follows their links. No program can replace a bucket; of the job's
    directories elsewhere this can only say that there is no link in them now. Raises OSError.
    """
    buckets = find_real(context.ticket.buckets)
    metrics = os.path.dirname(context.home.metrics)
    os.chmod(metrics, _OPEN)  # the image's user may be anybody
    mounts = [_bind(metrics, hypertune), _bind(metrics, HYPERTUNE_DEFAULT)]
    usable = find_buckets(context.ticket, context.task.buckets)
    mounts += [_bind(path, BUCKETS + path[len(buckets) :]) for path in usable]
    records = find_records(buckets) if buckets in usable else ""
    if records:
        place = BUCKETS + records[len(buckets) :]
        mounts.append(_bind(records, place, read_only=True))
    bound = find_bound(context.task)
    mounts += [_bind(path, f"{BUCKETS}/{name}", read_only=only) for path, name, only in bound]
    inside = [buckets, *(path for path, _, _ in bound)]
    for path, place in zip(context.directories, context.task.directories):  # noqa: B905  Python 3.8
        if not is_below(os.path.join(path, ""), inside):
            os.close(open_directory(ROOT, split(path), flags=PLACE))
            mounts.append(_bind(path, place))
    return mounts


def _bind(source: str, target: str, *, read_only: bool = False) -> dict[str, Any]:
    return {"Type": "bind", "Source": source, "Target": target, "ReadOnly": read_only}


def open_buckets(context: Context) -> str:
    """Lets every user write to the buckets, for an image whose user isn't the service's.

    Only where nobody else on this machine reaches them: their parent must be closed to others.
    What is made in them from now on is open, too, whatever the umask of who makes it.

    Returns why that can't be; empty if it is done.
    """
    buckets = find_real(context.ticket.buckets)
    parent = os.path.dirname(buckets)
    if not os.path.isdir(buckets):  # a node that doesn't see the service's disk
        return ""
    try:
        if os.stat(parent).st_mode & (stat.S_IXGRP | stat.S_IXOTH):
            return (
                f"other users of this machine can open {parent}; close it with chmod 700 {parent}"
            )
        usable = find_buckets(context.ticket, context.task.buckets)
        copies = find_copies(context.task)
        for path in _list_directories([buckets, *copies], [*usable, *copies], context.directories):
            _open_directory(path)
    except OSError as error:
        return f"{error.filename or buckets}: {error.strerror}"
    return ""


def _list_directories(
    tops: Sequence[str], usable: Sequence[str], directories: Iterable[str]
) -> Iterable[str]:
    """Returns the buckets, and the job's directories with those above them.

    ``tops``: the directory of all buckets, and the copies of others.
    """
    buckets = tops[0]
    if buckets in usable:
        with os.scandir(buckets) as entries:
            found = [entry for entry in entries if not entry.name.startswith(".")]
        yield from (entry.path for entry in found if entry.is_dir(follow_symlinks=False))
    yield from usable
    seen: set[str] = set()
    for path in directories:
        while is_below(path, tops) and path not in seen:
            seen.add(path)
            yield path
            path = os.path.dirname(path)


def _open_directory(path: str) -> None:
    """A program may own it by now, of another user: then it is as that one wants it.

    Or it has put a link in its place: that isn't followed.
    """
    try:
        with directory(ROOT, split(path)) as opened:
            os.fchmod(opened, _OPEN)
            os.setxattr(opened, _DEFAULT_ACL, _ACL)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return
    except OSError:  # no ACLs on this file system: what is new there has its maker's umask
        return
