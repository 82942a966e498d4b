"""Keep what users' packages run while they are built from the service's own files and rights."""

from __future__ import annotations

import os
import sys

from footplate.replica.bucket_directories import find_buckets
from footplate.replica.environment.cache import KINDS
from footplate.replica.filesystem_view import find_outermost
from footplate.replica.isolation import mode_selection
from footplate.replica.isolation.access_lists import grant
from footplate.replica.isolation.containment import enter_view
from footplate.replica.isolation.hidden_paths import (
    HiddenPaths,
    find_closed,
    find_hidden,
    find_records,
)
from footplate.replica.isolation.id_maps import try_mapped
from footplate.replica.isolation.mount_namespace import IN_MEMORY, MountNamespace
from footplate.replica.isolation.users import become
from footplate.replica.program_user import BUILD_TMP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Mapping, Sequence

    from footplate.replica.isolation.users import User


_INDEX_VARIABLES = (
    *("UV_FIND_LINKS", "UV_INDEX", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL"),
    *("PIP_FIND_LINKS", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"),
)
NO_TASK: "Mapping[str, Any]" = {}
_FILE_SCHEME = "file://"
_SCRATCH, _TMP = os.path.split(BUILD_TMP)
_HOME, _UV_CACHE = "home", "uv-cache"
_OUTPUT = "out"


class BuildIsolation:
    """``view`` is what builds see, if not all. ``user`` runs them, if another than this process.

    That user has a directory of his own, ``scratch``, with a cache of uv in it: what a build could
    write to the cache of all would be run by others.
    """

    def __init__(
        self, view: MountNamespace | None, user: User | None = None, scratch: str = ""
    ) -> None:
        self._view = view
        self.user = user
        self.scratch = scratch
        self.note = ""
        """What users are to know of it."""

    @property
    def output(self) -> str:
        """Where the user's builds leave what they make."""
        return os.path.join(self.scratch, _OUTPUT)

    def enter(self) -> None:
        """In a process that is to become a build. Raises OSError."""
        if self._view is not None:
            enter_view(self._view)
        if self.user is not None:
            become(self.user)

    def variables(self) -> dict[str, str]:
        if self.user is None:
            return {}
        names = {"TMPDIR": _TMP, "HOME": _HOME, "UV_CACHE_DIR": _UV_CACHE}
        found = {name: os.path.join(self.scratch, place) for name, place in names.items()}
        return {**found, "USER": self.user.name, "LOGNAME": self.user.name}

    def prepare(self) -> None:
        """Make the user's directories. Raises OSError."""
        if self.user is None:
            return
        for name in ("", _TMP, _HOME, _UV_CACHE, _OUTPUT):
            path = os.path.join(self.scratch, name)
            os.makedirs(path, exist_ok=True)
            os.chown(path, self.user.uid, self.user.gid)


def isolate_build(
    home: str,
    ticket: dict[str, Any],
    user: User | None = None,
    programs: Sequence[str] = (),
    task: Mapping[str, Any] = NO_TASK,
) -> BuildIsolation:
    """What a build sees: the host's files, but of the service's only packages, the cache
    and the buckets of ``task``, as programs do. Of the cache it can write the environments, not
    what all supervisors run and believe; a ``user`` can write none of it.

    ``programs`` are what it runs. Everything is seen where nothing is to be hidden, or can be.
    """
    packages = os.path.join(home, "packages")
    build_isolation = BuildIsolation(None, user, os.path.join(packages, _SCRATCH))
    caches = [os.path.realpath(str(ticket["cache"]))] if ticket.get("cache") else []
    environments = [os.path.join(cache, kind) for cache in caches for kind in KINDS]
    for path in (packages, *environments):
        os.makedirs(path, exist_ok=True)
    build_isolation.prepare()
    needed = [packages, *environments]
    usable = find_buckets(ticket, task)
    needed += [str(ticket.get("uv") or ""), *usable]
    needed += [os.environ.get("UV_CACHE_DIR", "")] if user is None else _find_places(programs)
    needed += [] if user is None else _find_local_indexes(os.environ)
    shown = [os.path.realpath(path) for path in needed if path]
    closed = [] if user is None else find_closed(shown)
    hidden = find_hidden([*(ticket.get("private") or ()), *closed])
    whole = find_buckets(ticket, NO_TASK)
    if not hidden:
        return _open_buckets(build_isolation, whole, "they see all files")
    if user is not None and any(find_closed([os.path.join(cache, "")]) for cache in caches):
        caches = []  # what builds need of it is shown
    cover, root = (os.path.join(home, name) for name in ("build-hidden", "root"))
    os.makedirs(root, exist_ok=True)
    used = [*shown, *programs, sys.prefix, sys.base_prefix, home]
    kept = [path for top in IN_MEMORY for path in find_outermost(used, top)]
    view = MountNamespace(os.path.realpath(root), "", "", kept)
    view.records = find_records(whole[0]) if whole and usable == whole else ""
    view.hidden_paths = HiddenPaths(os.path.realpath(cover), hidden, shown, caches)
    unmapped, fault = try_mapped(view, user, usable, mode_selection.find_fault)
    if fault and closed:
        return _without_user(f"no other user can pass {closed[0]}, and it can't be hidden: {fault}")
    if fault:
        return _open_buckets(build_isolation, whole, fault)
    isolated = BuildIsolation(view, user, build_isolation.scratch)
    return _open_buckets(isolated, usable, unmapped) if unmapped else isolated


def _without_user(why: str) -> BuildIsolation:
    build_isolation = BuildIsolation(None)
    build_isolation.note = f"builds run as root: {why}"
    return build_isolation


def _open_buckets(
    build_isolation: BuildIsolation, shared: Sequence[str], why: str
) -> BuildIsolation:
    """Let the user write them where he can't own what is in them."""
    if build_isolation.user is None:
        return build_isolation
    try:
        for path in shared:
            grant(path, build_isolation.user.gid)
    except OSError as error:
        build_isolation.note = f"builds can't write the buckets: {why}; {error}"
    return build_isolation


def _find_local_indexes(environment: Mapping[str, str]) -> list[str]:
    """The directories of this machine in which uv looks for packages."""
    words = [
        word
        for name in _INDEX_VARIABLES
        for word in environment.get(name, "").replace(",", " ").split()
    ]
    paths = [word[len(_FILE_SCHEME) :] if word.startswith(_FILE_SCHEME) else word for word in words]
    return [path for path in paths if os.path.isabs(path) and os.path.isdir(path)]


def _find_places(programs: Sequence[str]) -> list[str]:
    """The directories in which these lie, and their installations."""
    paths = [path for program in programs for path in (program, os.path.realpath(program))]
    found = [sys.prefix, sys.base_prefix]
    found += [os.path.dirname(os.path.dirname(path)) for path in paths]
    return [path for path in found if path != os.path.sep]
