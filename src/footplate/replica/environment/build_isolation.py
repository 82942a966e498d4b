"""Keeps what users' packages run while they are built from the service's own files and rights."""

from __future__ import annotations

import copy
import os
import re
import stat
import sys

from footplate import safe_path
from footplate.protocol.promised import PROCESS_NAMESPACE, VIEW
from footplate.protocol.task import PythonTask, Task
from footplate.replica.bucket_directories import find_bound, find_buckets, find_single
from footplate.replica.environment.cache import KINDS
from footplate.replica.environment.errors import PreparationError
from footplate.replica.environment.installed_distributions import find_installed, find_site
from footplate.replica.filesystem_view import find_outermost
from footplate.replica.isolation.access_lists import grant
from footplate.replica.isolation.containment import enter_view
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
from footplate.replica.isolation.pid_namespace import PidNamespace
from footplate.replica.isolation.spawn import Launch
from footplate.replica.isolation.users import become
from footplate.replica.program_user import BUILD_TMP, own
from footplate.replica.user_names import make_records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Mapping, Sequence

    from footplate.protocol.ticket import SupervisorTicket
    from footplate.replica.environment.interpreters import Interpreter
    from footplate.replica.isolation.pid_namespace import NamespacedProgram
    from footplate.replica.isolation.users import User


_INDEX_VARIABLES = (
    *("UV_FIND_LINKS", "UV_INDEX", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL"),
    *("PIP_FIND_LINKS", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"),
)
NO_TASK = Task(PythonTask())
_FILE_SCHEME = "file://"
_SCRATCH, _TMP = os.path.split(BUILD_TMP)
_HOME, _UV_CACHE = "home", "uv-cache"
_USER_BASE = (_HOME, ".local")
_OUTPUT = "out"
_MOST_NAMES = 20
_LOCKS = "locks"
"""The folder of locks in the cache: what is installed in runtimes."""
_HOST_TMP = "/tmp"  # noqa: S108  that of the host, named to keep out of it
_WRITABLE_PATH = re.compile(rf"(?:{'|'.join(WRITABLE)})/[^\s,:;=]+")


class Build:
    """A process in a process namespace of its own; the rest of the build ends with it."""

    def __init__(self, namespace: PidNamespace, first: NamespacedProgram) -> None:
        self._namespace = namespace
        self._first = first

    def wait(self) -> int:
        status = self._first.reap()
        return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)

    def kill(self) -> None:
        self._namespace.kill()


class BuildIsolation:
    """The isolation in which packages are built. ``view`` is the part of the file system that
    builds see; None means all. ``user`` runs them; None means the user of this process.

    Builds have a directory of their own, ``scratch``, with a cache of uv in it: files that a build
    wrote to the common cache would be run by others.
    """

    def __init__(self, scratch: str, user: User | None, *, namespaced: bool) -> None:
        """Prepares the isolation. With ``namespaced``, builds have process namespaces; without,
        they ``enter`` their view of the file system.
        """
        self.scratch = scratch
        self.user = user
        self.namespaced = namespaced
        self.view: MountNamespace | None = None
        self.note = ""
        """What users are to know of it."""

    @property
    def output(self) -> str:
        """The folder in which builds leave their results."""
        return os.path.join(self.scratch, _OUTPUT)

    def find_installed(self, interpreter: Interpreter) -> list[str]:
        """Returns the packages that builds have installed by pip, with versions."""
        top, scratch = os.path.split(self.scratch)
        site = find_site(os.path.join(scratch, *_USER_BASE), interpreter)
        try:
            with safe_path.directory(top, site.split(os.sep)) as opened:
                found = find_installed(opened)
        except OSError:  # they haven't
            return []
        return [f"{name} {found[name]}" for name in sorted(found)][:_MOST_NAMES]

    @property
    def tmp(self) -> str:
        return os.path.join(self.scratch, _TMP)

    def writing(self, path: str) -> BuildIsolation:
        """Returns the same isolation, for a build that may change the environment at ``path``."""
        made = copy.copy(self)
        if self.view is not None and self.view.hidden_paths is not None:
            made.view = copy.copy(self.view)
            made.view.hidden_paths = self.view.hidden_paths.showing(os.path.realpath(path))
        return made

    def start(self, argv: list[str], environment: dict[str, str], output: int) -> Build:
        """Starts a build in a process namespace. Raises OSError, SpawnFailed."""
        namespace = PidNamespace()
        launch = Launch(argv, environment, os.path.sep, output, output, user=self.user)
        return Build(namespace, namespace.start(launch, self.view))

    def enter(self) -> None:
        """Isolates this process, which is about to become a build. Raises OSError."""
        if self.view is not None:
            enter_view(self.view)
        if self.user is not None:
            become(self.user)

    def variables(self) -> dict[str, str]:
        names = {"TMPDIR": _TMP, "UV_CACHE_DIR": _UV_CACHE}
        if self.user is not None:
            names["HOME"] = _HOME
        found = {name: os.path.join(self.scratch, place) for name, place in names.items()}
        found["PYTHONUSERBASE"] = os.path.join(self.scratch, *_USER_BASE)
        if self.user is None:
            return found
        return {**found, "USER": self.user.name, "LOGNAME": self.user.name}

    def prepare(self) -> str:
        """Makes the directories; returns why they can't be given to the user, or ''. Raises
        OSError.
        """
        paths = [os.path.join(self.scratch, name) for name in ("", _TMP, _HOME, _UV_CACHE, _OUTPUT)]
        for path in paths:
            os.makedirs(path, exist_ok=True)
        return "" if self.user is None else own(paths, self.user)


def isolate_build(
    home: str,
    ticket: SupervisorTicket,
    user: User | None = None,
    programs: Sequence[str] = (),
    task: Task = NO_TASK,
) -> BuildIsolation:
    """Isolates builds as programs are.

    A build sees the host's files, but of the service's only packages, the cache and the buckets of
    ``task``. Of these it can write the buckets alone, and what is in ``scratch``. It has a /tmp of
    its own.

    ``programs`` are what it runs. Everything is seen where no view was promised: ``ticket`` says
    what was.

    Raises PreparationError, SpawnFailed, OSError: there can't be what was promised.
    """
    packages, promised = os.path.join(home, "packages"), ticket.build_promise
    namespaced = not promised.fault(PROCESS_NAMESPACE)
    scratch = os.path.join(packages, _SCRATCH)
    build_isolation = BuildIsolation(scratch, user, namespaced=namespaced)
    caches = [os.path.realpath(ticket.cache)] if ticket.cache else []
    parts = [os.path.join(cache, part) for cache in caches for part in (*KINDS, _LOCKS)]
    for path in (packages, *parts):
        os.makedirs(path, exist_ok=True)
    unowned = build_isolation.prepare()
    if unowned:
        raise PreparationError(f"builds of packages can't run as users of their own: {unowned}")
    usable, bound = find_buckets(ticket, task.buckets), find_bound(task)
    tools = _find_tools(ticket, programs, user)
    needed = [build_isolation.scratch, *usable, *(path for path, _, _ in bound), *tools]
    shown = [os.path.realpath(path) for path in needed if path]
    closed = [] if user is None else find_closed([*shown, *map(os.path.realpath, parts)])
    hidden = find_hidden([*ticket.private, *closed])
    hidden = [path for path in hidden if path not in {path for path, _, _ in bound}]
    whole = find_buckets(ticket, None)
    if user is not None and any(find_closed([os.path.join(cache, "")]) for cache in caches):
        caches = parts  # what builds need of it
    cover, root = (os.path.join(home, name) for name in ("build-hidden", "root"))
    os.makedirs(root, exist_ok=True)
    used = [
        packages,
        *needed,
        *shown,
        *caches,
        *programs,
        *_find_places(programs),
        *_find_named(os.environ),
    ]
    kept = [
        path
        for top in WRITABLE
        for path in find_outermost(used, top)
        if not is_below(path, hidden)  # the path mask shows them
    ]
    tmp = "" if _HOST_TMP in kept else os.path.realpath(build_isolation.tmp)
    view = MountNamespace(os.path.realpath(root), tmp, whole[0] if whole else "", kept)
    view.single = find_single(task, usable) if whole else None
    view.bound = bound if whole else []
    view.blocked = list(ticket.blocked)
    view.records = find_records(whole[0]) if whole and view.single is None else ""
    if user is not None:
        view.files = make_records(user, build_isolation.variables(), packages)
    sealed = [os.path.realpath(packages), *map(os.path.realpath, caches)]
    sealed += find_changeable(_find_places(programs), [*hidden, *WRITABLE], [*shown, *kept])
    view.hidden_paths = HiddenPaths(os.path.realpath(cover), hidden, shown, sealed)
    if promised.fault(VIEW):
        return _open_buckets(build_isolation, whole, promised.fault(VIEW))
    build_isolation.view = view
    disks = {path: promised.disk_fault(os.stat(path).st_dev) for path in usable}
    view.mapped = [path for path in usable if user is not None and not disks[path]]
    if user is not None and view.mapped:
        view.id_map = open_map(user.uid, user.gid)
    unmapped = [path for path in usable if disks[path]]
    return (
        _open_buckets(build_isolation, unmapped, disks[unmapped[0]] or "")
        if unmapped
        else build_isolation
    )


def _find_tools(ticket: SupervisorTicket, programs: Sequence[str], user: User | None) -> list[str]:
    """Returns the paths of uv, and of the programs and indexes of builds that run as ``user``."""
    if user is None:
        return [ticket.uv]
    return [ticket.uv, *_find_places(programs), *_find_local_indexes(os.environ)]


def _open_buckets(
    build_isolation: BuildIsolation, shared: Sequence[str], why: str
) -> BuildIsolation:
    """Lets the user write to the buckets, if he can't be made the owner of their files."""
    if build_isolation.user is None:
        return build_isolation
    try:
        for path in shared:
            grant(path, build_isolation.user.gid)
    except OSError as error:
        build_isolation.note = f"builds of packages can't write to the buckets: {why}; {error}"
    return build_isolation


def _find_named(environment: Mapping[str, str]) -> list[str]:
    """Returns the paths in environment variables that lie inside directories that all users may
    write.

    Builds use these paths: certificates, compilers, folders of packages, the socket of an SSH
    agent.
    """
    values = [value for name, value in environment.items() if name != "TMPDIR"]
    found = [path for value in values for path in _WRITABLE_PATH.findall(value)]
    found = [path for path in found if os.path.exists(path)]
    return [
        os.path.dirname(path) if stat.S_ISSOCK(os.stat(path).st_mode) else path for path in found
    ]


def _find_local_indexes(environment: Mapping[str, str]) -> list[str]:
    """Returns the directories of this machine in which uv looks for packages."""
    words = [
        word
        for name in _INDEX_VARIABLES
        for word in environment.get(name, "").replace(",", " ").split()
    ]
    paths = [word[len(_FILE_SCHEME) :] if word.startswith(_FILE_SCHEME) else word for word in words]
    return [path for path in paths if os.path.isabs(path) and os.path.isdir(path)]


def _find_places(programs: Sequence[str]) -> list[str]:
    """Returns the directories in which the programs lie, and the directories of their
    installations.
    """
    paths = [path for program in programs for path in (program, os.path.realpath(program))]
    found = [sys.prefix, sys.base_prefix]
    found += [os.path.dirname(os.path.dirname(path)) for path in paths]
    return [path for path in found if path != os.path.sep]
