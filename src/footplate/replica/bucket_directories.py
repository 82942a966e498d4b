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
    """Returns the real paths of those with these names; None: that of the directory of all."""
    top = find_real(ticket.buckets) if ticket.buckets else ""
    if names is None:
        return [top] if _is_usable(top) else []
    paths = [os.path.join(top, name) for name in names] if top else []
    return [path for path in paths if _is_usable(path) and find_real(path) == path]


def find_bound(task: Task) -> list[tuple[str, str, bool]]:
    """Returns usable ones that lie elsewhere: real path, name, whether it can only be read."""
    found = [(find_real(each.path), each.name, each.read_only) for each in task.bound_buckets]
    return [bound for bound in found if _is_usable(bound[0])]


def has_copies(task: Task) -> bool:
    return any(each.copied for each in task.bound_buckets)


def find_copies(task: Task) -> list[str]:
    """Returns the real paths of those bound ones that are copies, the service's own."""
    paths = [find_real(each.path) for each in task.bound_buckets if each.copied]
    return [path for path in paths if _is_usable(path)]


def find_single(task: Task, paths: list[str]) -> list[str] | None:
    """``paths`` where they are single buckets; None where they are the directory of all."""
    return None if task.buckets is None else paths


def _is_usable(path: str) -> bool:
    """Returns whether this process can reach it as a directory. Its programs reach no other.

    Raises OSError: that can't be found out now.
    """
    try:
        return is_directory(path)
    except PermissionError:  # on a node another user's directories lie at the service's paths
        return False
