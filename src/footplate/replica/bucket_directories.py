"""The directories of the buckets that a job's programs may use."""

from __future__ import annotations

import os

from footplate.replica.file_io import is_directory
from footplate.replica.realpath import find_real

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Sequence

    from footplate.protocol.task import Task
    from footplate.protocol.ticket import SupervisorTicket


def find_buckets(ticket: SupervisorTicket, names: Sequence[str] | None) -> list[str]:
    """Returns the real paths of the buckets with these names; None stands for the directory of all
    buckets.
    """
    top = find_real(ticket.buckets) if ticket.buckets else ""
    if names is None:
        return [top] if _is_usable(top) else []
    paths = [os.path.join(top, name) for name in names] if top else []
    return [path for path in paths if _is_usable(path) and find_real(path) == path]


def find_bound(task: Task) -> list[tuple[str, str, bool]]:
    """Returns the usable buckets that lie in other directories, each as real path, name and whether
    it is read-only.
    """
    found = [(find_real(each.path), each.name, each.read_only) for each in task.bound_buckets]
    return [bound for bound in found if _is_usable(bound[0])]


def has_copies(task: Task) -> bool:
    return any(each.copied for each in task.bound_buckets)


def find_copies(task: Task) -> list[str]:
    """Returns the real paths of the bound buckets that are the service's own copies."""
    paths = [find_real(each.path) for each in task.bound_buckets if each.copied]
    return [path for path in paths if _is_usable(path)]


def find_single(task: Task, paths: list[str]) -> list[str] | None:
    """Returns ``paths`` if they are single buckets; None if they are the directory of all."""
    return None if task.buckets is None else paths


def _is_usable(path: str) -> bool:
    """Returns whether this process can reach ``path`` as a directory; its programs can't reach any
    other. Raises OSError if that can't be found out now.
    """
    try:
        return is_directory(path)
    except PermissionError:  # on a node another user's directories lie at the service's paths
        return False
