"""Builds the file system view of a replica's program."""

from __future__ import annotations

import os
import sys

from footplate.protocol.promised import VIEW
from footplate.replica.bucket_directories import (
    find_bound,
    find_buckets,
    find_copies,
    find_single,
)
from footplate.replica.file_io import is_reachable
from footplate.replica.isolation.hidden_paths import (
    HiddenPaths,
    find_changeable,
    find_closed,
    find_hidden,
    find_records,
    is_below,
)
from footplate.replica.isolation.id_maps import open_map
from footplate.replica.isolation.mount_namespace import WRITABLE, MountNamespace
from footplate.replica.program_spec import TaskError
from footplate.replica.program_user import open_directories
from footplate.replica.realpath import find_real

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Sequence

    from footplate.replica.context import Context
    from footplate.replica.isolation.users import User

_HOST_TMP = "/tmp"  # noqa: S108  that of the host, named to keep out of it
_SOCKETS = (
    *("/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock"),
    *("/run/crio/crio.sock", "/run/buildkit/buildkitd.sock"),
)
"""Of container engines: who may use one is root of the machine."""
_ROOT_MODE = 0o1777
"""As /tmp: a program makes directories like /app there, as the root of an image does."""
_SESSION = "/run/user/{}"
"""Where the user who runs the service is asked to start processes: systemd, D-Bus, Podman."""


def make_view(
    context: Context, environment: Sequence[str], program: str
) -> tuple[MountNamespace | None, str]:
    """Returns the program's own view of the file system; or None, and why none was promised.

    ``environment`` are the directories of its interpreter and packages, ``program`` is the file
    that it executes. Of the service's own directories it sees its working directory, the buckets
    and its environment. The cache and its environment are read-only, because all supervisors run
    what lies there. Raises TaskError, SpawnFailed, OSError if a view was promised, and can't be
    had.
    """
    unavailable = context.promise().fault(VIEW)
    if unavailable:
        return None, unavailable
    buckets = _real_directory(context.ticket.buckets)
    usable = find_buckets(context.ticket, context.task.buckets)
    cache = context.ticket.cache
    own = [context.home.work, os.path.dirname(context.home.metrics)]
    interpreter = [os.path.dirname(os.path.dirname(sys.executable)), sys.prefix]
    bound = find_bound(context.task)
    needed = [*own, *usable, *(path for path, _, _ in bound), *interpreter]
    shared = context.ticket.tmp_paths
    # No mount follows a link: a program that is one is seen with what lies beside it.
    executed = os.path.dirname(program) if os.path.islink(program) else program
    others = (*environment, executed, *shared, cache, context.command[-1])
    paths = [path for path in (*needed, *others) if path]
    real = {path: find_real(path) for path in dict.fromkeys(paths)}
    used = [*paths, *real.values(), *context.directories]
    in_use = [path for top in WRITABLE for path in find_outermost(used, top)]
    if _HOST_TMP in in_use:
        raise TaskError(
            f"the program can't have its own file systems, because the job uses {_HOST_TMP} "
            f"itself; give the job a directory below {_HOST_TMP}, or elsewhere"
        )
    reached = [real[path] for path in (*needed, *environment, *shared) if path]
    reached += find_shared(context)
    closed = [] if context.user is None else find_closed(reached, WRITABLE)
    private = [*context.ticket.private, *_find_sessions()]
    hidden = find_hidden([*private, *closed])
    hidden = [path for path in hidden if path not in {real[path] for path, _, _ in bound}]
    kept = [path for path in in_use if not is_below(path, hidden)]  # the path mask shows them
    view = MountNamespace(_make_root(context), context.home.tmp, buckets, kept)
    view.directories = context.directories
    view.single = find_single(context.task, usable) if buckets else None
    view.bound = bound if buckets else []
    view.records = find_records(buckets) if view.single is None else ""
    view.memory_bytes = 0 if context.limits is None else context.limits.memory_bytes
    if context.user is not None or os.geteuid() != 0:
        view.blocked = [path for path in _SOCKETS if is_reachable(path)]
    view.blocked = [*view.blocked, *context.ticket.blocked]
    shown = [real[path] for path in needed if path]
    shown += (
        [] if context.user is None else [*find_shared(context), *(real[path] for path in shared)]
    )
    sealed = [path for path in (_real_directory(cache),) if path]
    installed = [real[path] for path in environment if is_below(real[path], sealed)]
    shown += [real[path] for path in environment if real[path] not in installed]
    ends = [os.path.join(path, "") for path in sealed]
    if context.user is not None and find_closed(ends, WRITABLE):
        sealed = installed  # what the program needs of it
    prefixes = [*interpreter, *environment]
    sealed += find_changeable(prefixes, [*hidden, *WRITABLE], [*shown, *kept])
    cover = os.path.join(find_real(context.home.path), "hidden_paths")
    view.hidden_paths = HiddenPaths(cover, hidden, shown, sealed)
    if context.user is not None:
        _map_owners(context, context.user, view)
    return view, ""


def _map_owners(context: Context, user: User, view: MountNamespace) -> None:
    """Makes ``user`` own the service's files in what it writes; access lists stand in on disks that
    can't do it. Raises TaskError, SpawnFailed, OSError.
    """
    written, faults = find_shared(context), {}
    for path in written:
        faults[path] = _find_map_fault(context, user, path)
    view.mapped = [path for path in written if not faults[path]]
    if view.mapped:
        view.id_map = open_map(user.uid, user.gid)
    granted = [path for path in find_granted(context) if faults.get(path)]
    open_directories(context, granted, "".join(faults[path] for path in granted[:1]))


def _find_map_fault(context: Context, user: User, path: str) -> str:
    """Returns why owners can't be mapped on the disk of ``path``, or ''. The service's disks were
    tried at its start; others are tried now.
    """
    fault = context.promise().disk_fault(os.stat(path).st_dev)
    if fault is not None:
        return fault
    from footplate.replica.probe import find_map_fault  # only for a disk that isn't the service's

    return find_map_fault(path, user)


def _find_sessions() -> list[str]:
    """Returns the directories of the user's sessions, which are to be hidden; none if root runs the
    service.
    """
    return [] if os.geteuid() == 0 else [_SESSION.format(os.geteuid())]


def find_shared(context: Context, *, whole: bool = False) -> list[str]:
    """Returns the directories outside HOME that the program may write: the job's, and buckets'.

    Buckets that are directories elsewhere are left out unless the service owns them. ``whole`` is
    for a program that sees every bucket: their parent directory is returned in place of them.
    """
    bound = [path for path, _, read_only in find_bound(context.task) if not read_only]
    own = [path for path in bound if os.stat(path).st_uid == os.geteuid()]
    return _find_outer([*own, *find_granted(context, whole=whole)])


def find_granted(context: Context, *, whole: bool = False) -> list[str]:
    """Returns what ``find_shared`` returns, except bound folders elsewhere, whose access isn't
    changed.
    """
    buckets = find_buckets(context.ticket, None if whole else context.task.buckets)
    copies = find_copies(context.task)
    return _find_outer([*buckets, *copies, *context.directories])


def _find_outer(paths: Sequence[str]) -> list[str]:
    """Returns the real paths that lie in no other of the paths. They aren't resolved again: a path
    that has become a link is refused at its mount.
    """
    found: list[str] = []
    for path in sorted(set(paths)):
        if not is_below(path, found):
            found.append(path)
    return found


def _make_root(context: Context) -> str:
    """Creates the root directory for the view and returns its real path. Files that builds wrote
    into it stay.
    """
    root = context.home / "root"
    os.makedirs(root, exist_ok=True)
    os.chmod(root, _ROOT_MODE)
    return find_real(root)


def _real_directory(path: str) -> str:
    """Returns the real path of a directory; '' if there is none."""
    real = find_real(path) if path else ""
    return real if os.path.isdir(real) else ""


def find_outermost(paths: Sequence[str], top: str) -> list[str]:
    """Returns absolute paths in ``top`` that exist, without those that lie below another one."""
    found: list[str] = []
    absolute = {os.path.normpath(path) for path in paths if os.path.isabs(path)}
    for path in sorted(path for path in absolute if path == top or is_below(path, [top])):
        if os.path.exists(path) and not is_below(path, found):
            found.append(path)
    return found
