"""The directories of the buckets that a job's programs may use."""

from __future__ import annotations

import os

from footplate.replica.file_io import is_directory
from footplate.replica.realpath import find_real

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Mapping


def find_buckets(ticket: Mapping[str, Any], task: Mapping[str, Any]) -> list[str]:
    """Returns their real paths. Where it may use all: that of the directory of them all."""
    top = find_real(str(ticket.get("buckets") or "")) if ticket.get("buckets") else ""
    names = task.get("buckets")
    if names is None:
        return [top] if _is_usable(top) else []
    paths = [os.path.join(top, str(name)) for name in names] if top else []
    return [path for path in paths if _is_usable(path) and find_real(path) == path]


def find_bound(task: Mapping[str, Any]) -> list[tuple[str, str, bool]]:
    """Returns usable ones that lie elsewhere: real path, name, whether it can only be read."""
    found = [
        (find_real(str(each["path"])), str(each["name"]), each["read_only"] is True)
        for each in task.get("bound_buckets") or ()
    ]
    return [bound for bound in found if _is_usable(bound[0])]


def has_copies(task: Mapping[str, Any]) -> bool:
    return any(each.get("copied") for each in task.get("bound_buckets") or ())


def find_copies(task: Mapping[str, Any]) -> list[str]:
    """Returns the real paths of those bound ones that are copies, the service's own."""
    copied = [each for each in task.get("bound_buckets") or () if each.get("copied")]
    paths = [find_real(str(each["path"])) for each in copied]
    return [path for path in paths if _is_usable(path)]


def find_single(task: Mapping[str, Any], paths: list[str]) -> list[str] | None:
    """``paths`` where they are single buckets; None where they are the directory of all."""
    return None if task.get("buckets") is None else paths


def _is_usable(path: str) -> bool:
    """Returns whether this process can reach it as a directory. Its programs reach no other.

    Raises OSError: that can't be found out now.
    """
    try:
        return is_directory(path)
    except PermissionError:  # on a node another user's directories lie at the service's paths
        return False
