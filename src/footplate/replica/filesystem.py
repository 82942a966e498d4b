"""What a replica's program is to see of the file system, and whether it can be had here."""

from __future__ import annotations

import os
import sys

from footplate.replica.isolation import ladder, roots
from footplate.replica.isolation.id_maps import open_map
from footplate.replica.isolation.spawn import SpawnFailed
from footplate.replica.isolation.veil import (
    Veil,
    find_closed,
    find_hidden,
    find_records,
    is_below,
)
from footplate.replica.isolation.view import View
from footplate.replica.real_paths import find_real

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Sequence

    from footplate.replica.desk import Desk

VIEWS = "programs have views of their own"
_HOST_TMP = "/tmp"  # noqa: S108  that of the host, named to keep out of it


def make_view(
    desk: Desk, environment: Sequence[str], directories: Sequence[str]
) -> tuple[View | None, str]:
    """The program's own view of the file system; or None, and why it can't be had.

    ``environment`` is where its interpreter and packages lie, ``directories`` are the job's. Of
    the service's own directories it sees its working directory, the buckets and its environment.
    The cache it can read: what all supervisors run lies there, and others' environments.
    It is tried, where no other one was since the machine started.
    """
    buckets = _real_directory(desk.ticket.get("buckets"))
    cache = str(desk.ticket.get("cache") or "")
    own = [desk.home.work, os.path.dirname(desk.home.metrics)]
    interpreter = [os.path.dirname(os.path.dirname(sys.executable)), sys.prefix]
    needed = [*own, buckets, *interpreter, *environment]
    shared = [str(path) for path in desk.ticket.get("tmp_paths") or ()]
    paths = [path for path in (*needed, *directories, *shared, cache, desk.command[-1]) if path]
    real = {path: find_real(path) for path in dict.fromkeys(paths)}
    in_tmp = _outermost([*paths, *real.values()], _HOST_TMP)
    if _HOST_TMP in in_tmp:
        return None, f"{_HOST_TMP} itself is in use by the service"
    reached = [*(real[path] for path in [*needed, *shared] if path), *find_shared(desk)]
    closed = [] if desk.user is None else find_closed(reached)
    hidden = find_hidden([*(desk.ticket.get("private") or ()), *closed])
    kept = [path for path in in_tmp if not is_below(path, hidden)]  # the veil shows them
    view = View(_take_root(desk, buckets), desk.home.tmp, buckets, kept)
    view.records = find_records(buckets)
    shown = [real[path] for path in needed if path]
    shown += [] if desk.user is None else [*find_shared(desk), *(real[path] for path in shared)]
    sealed = [_real_directory(cache)]
    if desk.user is not None and find_closed([os.path.join(sealed[0], "")]):
        sealed = []  # what the program needs of it is shown
    cover = os.path.join(find_real(desk.home.path), "veil")
    view.veil = Veil(cover, hidden, shown, sealed)
    unmapped = _map(desk, view)
    fault = _find_fault(desk, view)
    if fault and view.id_map >= 0:
        view.close()
        unmapped, fault = fault, _find_fault(desk, view)
    return (None, fault) if fault else (view, unmapped)


def find_shared(desk: Desk) -> list[str]:
    """The directories outside its HOME that the program writes: its own, and the buckets."""
    paths = [desk.ticket.get("buckets"), *(desk.task.get("directories") or ())]
    found: list[str] = []
    for path in sorted({_real_directory(path) for path in paths} - {""}):
        if not is_below(path, found):
            found.append(path)
    return found


def _map(desk: Desk, view: View) -> str:
    """Have the user own the files of the service in what he writes. Why that can't be, or empty."""
    if desk.user is None:
        return ""
    view.mapped = find_shared(desk)
    try:
        view.id_map = open_map(desk.user)
    except (OSError, SpawnFailed) as error:
        return str(error)
    return ""


def _find_fault(desk: Desk, view: View) -> str:
    """Why this view can't be had. It isn't tried where one like it was."""
    disks = sorted({os.stat(path).st_dev for path in view.mapped})
    proof = VIEWS if view.id_map < 0 else f"{VIEWS}, with mapped owners on disks {disks}"
    if proof in desk.proofs:
        return ""
    fault = ladder.find_fault(view)
    if not fault:
        desk.proofs.add(proof)
    return fault


def _take_root(desk: Desk, buckets: str) -> str:
    """The real path. Where a build was in a view, its root has what was written into that."""
    root = desk.home / "root"
    if not os.path.lexists(root):
        added = ["proc", "tmp", "gcs"] if buckets else ["proc", "tmp"]
        desk.root = roots.take(root, str(desk.ticket.get("roots") or ""), added)
        if desk.root is None:
            os.makedirs(root, exist_ok=True)
    return find_real(root)


def _real_directory(path: object) -> str:
    """Empty: there is none."""
    real = find_real(str(path)) if path else ""
    return real if os.path.isdir(real) else ""


def _outermost(paths: Sequence[str], top: str) -> list[str]:
    """The absolute paths in ``top`` that exist, without those that lie below another one."""
    found: list[str] = []
    absolute = {os.path.normpath(path) for path in paths if os.path.isabs(path)}
    for path in sorted(path for path in absolute if path == top or is_below(path, [top])):
        if os.path.exists(path) and not is_below(path, found):
            found.append(path)
    return found
