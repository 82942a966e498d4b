"""A mount namespace: private /tmp and /dev/shm, buckets under /gcs, no service files."""

from __future__ import annotations

import os

from footplate.replica.file_io import is_directory, is_reachable
from footplate.replica.isolation import syscalls

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Sequence

    from footplate.replica.isolation.hidden_paths import HiddenPaths

_PLACES_UMASK = 0o022
"""The umask for directories on the way to what is seen: every user may pass them."""
_BUCKETS = "/gcs"
_HOST = "."
"""Where the host's root is seen while a view is entered: it is the working directory."""
_TMP, _VAR_TMP = "/tmp", "/var/tmp"  # noqa: S108  they are private
_QUEUES = "/dev/mqueue"
_OWN_IPC = "/proc/self/ns/ipc"
"""It is there where the kernel has IPC namespaces."""
IN_MEMORY = ("/dev/shm", "/run/lock")  # noqa: S108  they are private
"""Directories that every user may write: each view has empty ones of its own."""
WRITABLE = (_TMP, _VAR_TMP, *IN_MEMORY)
"""All such directories of the host, which a program with a ``tmp`` of its own doesn't see."""


class MountNamespace:
    """A root directory of bind mounts in which the host's directories are where they are.

    ``tmp`` is seen as /tmp and /var/tmp and ``buckets`` as /gcs, if not empty; of ``buckets`` only
    the directories in ``single``, if given, and those in ``bound`` beside them: each a path, the
    name that it has in /gcs, and whether it can only be read. Of the host's own ``WRITABLE``
    directories only the paths in ``kept`` are seen then, in their places; one that is itself in
    ``kept`` isn't private.
    ``memory_bytes`` is what the private ones in memory may hold; 0: half of the machine's memory.
    In the place of the files ``blocked`` is an empty one. What is written into / itself stays in
    ``root``. ``files`` are seen in the places of others: each with
    the path of the other one. ``records`` is a directory in the buckets that can be read only,
    wherever they are seen.
    ``hidden_paths`` hides what programs have no business with. ``mapped`` are directories in which
    the service's files are the program's: with the owners that the user namespace ``id_map`` gives.
    ``directories`` are the job's own. These, and all in the buckets, a program may replace by links
    at any time: their real paths are given, and what has become a link is refused.
    Enter it in a process that is to become the program.
    """

    __slots__ = (
        *(
            "blocked",
            "bound",
            "buckets",
            "directories",
            "files",
            "hidden_paths",
            "id_map",
            "kept",
            "mapped",
        ),
        *("memory_bytes", "records", "root", "single", "tmp"),
    )

    def __init__(self, root: str, tmp: str, buckets: str, kept: Sequence[str]) -> None:
        self.root = root
        self.tmp = tmp
        self.buckets = buckets
        self.kept = kept
        self.files: Sequence[tuple[str, str]] = ()
        self.records = ""
        self.single: Sequence[str] | None = None
        self.bound: Sequence[tuple[str, str, bool]] = ()
        self.directories: Sequence[str] = ()
        self.hidden_paths: HiddenPaths | None = None
        self.mapped: Sequence[str] = ()
        self.blocked: Sequence[str] = ()
        self.memory_bytes = 0
        self.id_map = -1

    def close(self) -> None:
        """Closes the descriptors that aren't needed once the namespace was entered."""
        if self.id_map >= 0:
            os.close(self.id_map)
            self.id_map = -1

    def enter(self, *, fresh_proc: bool) -> None:
        """Pivots into the view; in a mount namespace of one's own (``leave_host``) only.

        ``fresh_proc``: mount a /proc of the current process namespace instead of the host's.

        Raises OSError.
        """
        self._leave_out_deleted()
        # No mount that is made here may appear on the host. Then the root is bound to itself:
        # pivot_root takes nothing but a mount.
        syscalls.mount("none", "/", syscalls.MS_REC | syscalls.MS_SLAVE)
        syscalls.mount(self.root, self.root, syscalls.MS_BIND)
        host = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        os.chdir(self.root)
        syscalls.pivot_root(".", ".")  # the host's is above it now, in a place without a name
        os.chdir(host)
        os.close(host)
        before = os.umask(_PLACES_UMASK)
        self._fill(fresh_proc=fresh_proc)
        os.umask(before)
        syscalls.detach(_HOST)
        os.chdir("/")

    def _leave_out_deleted(self) -> None:
        """Leaves out the buckets that were deleted since this view was made.

        They are all of the job's project, of which the job may need others; and a view lasts as
        long as its packages take to build.
        """
        gone = {path for path in self.single or () if not _exists(path)}
        if self.single is None or not gone:
            return
        self.single = [path for path in self.single if path not in gone]
        self.mapped = [path for path in self.mapped if path not in gone]
        if self.hidden_paths is not None:
            shown = self.hidden_paths.shown
            self.hidden_paths.shown = [path for path in shown if path not in gone]

    def _fill(self, *, fresh_proc: bool) -> None:
        places = {"tmp": self.tmp, "gcs": self.buckets, "proc": fresh_proc}
        special = {name for name, given in places.items() if given}
        with os.scandir(_HOST) as entries:
            for entry in entries:
                if entry.name not in special:
                    _show(entry.path, "/" + entry.name)
        if fresh_proc:
            os.makedirs("/proc", exist_ok=True)
            syscalls.mount("proc", "/proc", syscalls.MS_NOSUID_NODEV_NOEXEC, "proc")
        if self.single is not None:
            self._fill_buckets(self.single)
        elif self.buckets and not self._is_mapped(self.buckets):
            os.makedirs(_BUCKETS, exist_ok=True)
            syscalls.bind_real(_HOST, self.buckets, _BUCKETS)
        self._fill_writable()
        if self.hidden_paths is not None:
            self.hidden_paths.draw(_HOST)
        self._show_mapped()
        if self.single is not None:
            syscalls.seal(_BUCKETS)
        self._seal_records()
        self._seal_bound()
        for source, place in self.files:
            syscalls.mount(_HOST + source, os.path.realpath(place), syscalls.MS_BIND)
        for place in filter(is_reachable, self.blocked):
            syscalls.mount(os.devnull, place, syscalls.MS_BIND)

    def _fill_buckets(self, single: Sequence[str]) -> None:
        """Mounts buckets on a file system in memory, so that no mount points stay in the root."""
        os.makedirs(_BUCKETS, exist_ok=True)
        syscalls.mount("tmpfs", _BUCKETS, syscalls.MS_NOSUID_NODEV_NOEXEC, "tmpfs", "mode=755")
        for path in single:
            os.mkdir(_place(path))
            if not self._is_mapped(path):
                syscalls.bind_real(_HOST, path, _place(path))

        for path, name, _ in self.bound:
            os.mkdir(os.path.join(_BUCKETS, name))
            if not self._is_mapped(path):
                syscalls.bind_real(_HOST, path, os.path.join(_BUCKETS, name))

    def _seal_bound(self) -> None:
        for path, name, read_only in self.bound:
            if not read_only:
                continue
            if not self._is_mapped(path):
                os.makedirs(path, exist_ok=True)
                syscalls.bind_real(_HOST, path, path)
            syscalls.seal_tree(path)
            syscalls.seal_tree(os.path.join(_BUCKETS, name))

    def _is_mapped(self, path: str) -> bool:
        return self.id_map >= 0 and path in self.mapped

    def _show_mapped(self) -> None:
        if self.id_map < 0:
            return
        for path in self.mapped:
            os.makedirs(path, exist_ok=True)
            syscalls.mount_mapped(_HOST, path, path, self.id_map)
        for path in self.single or ():
            if self._is_mapped(path):
                syscalls.mount_mapped(_HOST, path, _place(path), self.id_map)
        for path, name, _ in self.bound:
            if self._is_mapped(path):
                syscalls.mount_mapped(_HOST, path, os.path.join(_BUCKETS, name), self.id_map)
        if self.single is None and self.buckets and self._is_mapped(self.buckets):
            os.makedirs("/gcs", exist_ok=True)
            syscalls.mount_mapped(_HOST, self.buckets, _BUCKETS, self.id_map)

    def _seal_records(self) -> None:
        places = [self.records] if self.records else []
        if places and self.buckets:
            places.append("/gcs" + self.records[len(self.buckets) :])
        for place in filter(is_directory, places):
            syscalls.bind_real(_HOST, self.records, place)
            syscalls.seal(place)

    def _fill_writable(self) -> None:
        if self.tmp:
            _show(_HOST + self.tmp, _TMP)
        if self.tmp and _VAR_TMP not in self.kept and _is_directory(_VAR_TMP):
            _show(_HOST + self.tmp, _VAR_TMP)
        for place in IN_MEMORY:
            if place not in self.kept and _is_directory(place):
                self._cover(place)
        if _is_directory(_QUEUES):
            self._fill_queues()
        for path in self.kept:
            if path in self.directories:
                os.makedirs(path, exist_ok=True)
                syscalls.bind_real(_HOST, path, path)
            elif path not in WRITABLE:
                _show(_HOST + path, path)

    def _fill_queues(self) -> None:
        """Mounts the message queues of the IPC namespace, or an empty directory in their place."""
        try:
            syscalls.mount("mqueue", _QUEUES, syscalls.MS_NOSUID_NODEV_NOEXEC, "mqueue")
        except OSError:  # an empty directory does, too
            self._cover(_QUEUES)

    def _cover(self, place: str) -> None:
        """Covers the place with an empty file system in memory, or, without one, with our ``tmp``,
        if any.
        """
        size = f",size={self.memory_bytes}" if self.memory_bytes else ""
        try:
            syscalls.mount("tmpfs", place, syscalls.MS_NOSUID_NODEV, "tmpfs", f"mode=1777{size}")
        except OSError:  # a directory does, too
            source = self.tmp or self.root
            syscalls.mount(_HOST + source, place, syscalls.MS_BIND)


def _exists(path: str) -> bool:
    """Returns whether anything is at the path, also a link. Raises OSError if that can't be found
    out now.
    """
    try:
        os.lstat(path)
    except FileNotFoundError:
        return False
    return True


def _place(bucket: str) -> str:
    """Returns the path at which a program sees the bucket."""
    return os.path.join(_BUCKETS, os.path.basename(bucket))


def leave_host(flags: int = 0) -> None:
    """Moves this process into new mount and IPC namespaces, and those that ``flags`` name.

    If this user may not do that, the process also enters a user namespace, in which its user stays
    the same. Raises OSError.
    """
    user, group = os.geteuid(), os.getegid()
    flags |= syscalls.CLONE_NEWNS | (syscalls.CLONE_NEWIPC if os.path.exists(_OWN_IPC) else 0)
    try:
        syscalls.unshare(flags)
    except PermissionError:
        syscalls.unshare(syscalls.CLONE_NEWUSER | flags)
        # Before that the kernel lets no ordinary user write gid_map.
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{user} {user} 1")
        _write("/proc/self/gid_map", f"{group} {group} 1")


def _is_directory(place: str) -> bool:
    return os.path.isdir(place) and not os.path.islink(place)


def _show(source: str, target: str) -> None:
    """Makes ``source`` appear at ``target``, with all that is mounted below it."""
    if os.path.islink(source):
        if not os.path.lexists(target):
            os.symlink(os.readlink(source), target)
        return
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    elif os.path.isfile(source):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    else:
        return
    syscalls.mount(source, target, syscalls.MS_BIND | syscalls.MS_REC)


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
