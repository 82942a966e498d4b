"""A mount namespace: private /tmp, buckets under /gcs, no service files."""

from __future__ import annotations

import os

from footplate.replica.isolation.hidden_paths import HiddenPaths

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Sequence

_PLACES_UMASK = 0o022
"""Of the directories that are made on the way to what is seen: every user may pass them."""
_HOST = "."
"""Where the host's root is seen while a view is entered: it is the working directory."""


class MountNamespace:
    """A root directory of bind mounts in which the host's directories are where they are.

    ``tmp`` is seen as /tmp and ``buckets`` as /gcs, if not empty. Of the host's own /tmp only the
    paths in ``kept`` are seen then, in their places. What is written into / itself stays in
    ``root``. ``files`` are seen in the places of others: each with the path of the other one.
    ``records`` is a directory in the buckets that can be read only, wherever they are seen.
    ``hidden_paths`` hides what programs have no business with. ``mapped`` are directories in which
    the service's files are the program's: with the owners that the user namespace ``id_map`` gives.
    Enter it in a process that is to become the program.
    """

    __slots__ = (
        *("buckets", "files", "id_map", "kept", "mapped", "records", "root", "tmp", "hidden_paths"),
    )

    def __init__(self, root: str, tmp: str, buckets: str, kept: Sequence[str]) -> None:
        self.root = root
        self.tmp = tmp
        self.buckets = buckets
        self.kept = kept
        self.files: Sequence[tuple[str, str]] = ()
        self.records = ""
        self.hidden_paths: HiddenPaths | None = None
        self.mapped: Sequence[str] = ()
        self.id_map = -1

    @classmethod
    def of(cls, told: tuple[Any, ...]) -> MountNamespace:
        """The one that ``tell`` told of."""
        root, tmp, buckets, kept, files, records, mapped, hidden_paths = told
        view = cls(root, tmp, buckets, kept)
        view.files, view.records, view.mapped = files, records, mapped
        view.hidden_paths = None if hidden_paths is None else HiddenPaths.of(hidden_paths)
        return view

    def tell(self) -> tuple[object, ...]:
        """For a process that was forked before: nothing but texts, in lists and tuples."""
        hidden_paths = None if self.hidden_paths is None else self.hidden_paths.tell()
        paths = self.root, self.tmp, self.buckets
        return (
            *paths,
            list(self.kept),
            list(self.files),
            self.records,
            list(self.mapped),
            hidden_paths,
        )

    def close(self) -> None:
        """What it needs no more once it was entered."""
        if self.id_map >= 0:
            os.close(self.id_map)
            self.id_map = -1

    def enter(self, *, fresh_proc: bool) -> None:
        """Pivot into the view; in a mount namespace of one's own (``leave_host``) only.

        ``fresh_proc``: mount a /proc of the current process namespace instead of the host's.

        Raises OSError.
        """
        from footplate.replica.isolation import syscalls  # in children only: it costs memory

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

    def _fill(self, *, fresh_proc: bool) -> None:
        from footplate.replica.isolation import syscalls  # in children only: it costs memory

        places = {"tmp": self.tmp, "gcs": self.buckets, "proc": fresh_proc}
        special = {name for name, given in places.items() if given}
        with os.scandir(_HOST) as entries:
            for entry in entries:
                if entry.name not in special:
                    _show_entry(entry)
        if fresh_proc:
            os.makedirs("/proc", exist_ok=True)
            syscalls.mount("proc", "/proc", syscalls.MS_NOSUID_NODEV_NOEXEC, "proc")
        if self.buckets and not self._is_mapped(self.buckets):
            _show(_HOST + self.buckets, "/gcs")
        if self.tmp:
            self._fill_tmp()
        if self.hidden_paths is not None:
            self.hidden_paths.draw(_HOST)
        self._show_mapped()
        self._seal_records()
        for source, place in self.files:
            syscalls.mount(_HOST + source, os.path.realpath(place), syscalls.MS_BIND)

    def _is_mapped(self, path: str) -> bool:
        return self.id_map >= 0 and path in self.mapped

    def _show_mapped(self) -> None:
        from footplate.replica.isolation import syscalls  # in children only: it costs memory

        if self.id_map < 0:
            return
        for path in self.mapped:
            os.makedirs(path, exist_ok=True)
            syscalls.mount_mapped(_HOST + path, path, self.id_map)
        if self.buckets and self._is_mapped(self.buckets):
            os.makedirs("/gcs", exist_ok=True)
            syscalls.mount_mapped(_HOST + self.buckets, "/gcs", self.id_map)

    def _seal_records(self) -> None:
        from footplate.replica.isolation import syscalls  # in children only: it costs memory

        places = [self.records] if self.records else []
        if places and self.buckets:
            places.append("/gcs" + self.records.removeprefix(self.buckets))
        for place in filter(os.path.isdir, places):
            syscalls.mount(_HOST + self.records, place, syscalls.MS_BIND | syscalls.MS_REC)
            syscalls.seal(place)

    def _fill_tmp(self) -> None:
        _show(_HOST + self.tmp, "/tmp")  # noqa: S108  it is private
        for path in self.kept:
            if path.startswith("/tmp/"):  # noqa: S108  it is the host's
                _show(_HOST + path, path)


def leave_host(flags: int = 0) -> None:
    """Go into a mount namespace of one's own, and those that ``flags`` name.

    Where that isn't allowed to this user, in a user namespace in which he is who he was.

    Raises OSError.
    """
    from footplate.replica.isolation import syscalls  # in children only: it costs memory

    user, group = os.geteuid(), os.getegid()
    try:
        syscalls.unshare(syscalls.CLONE_NEWNS | flags)
    except PermissionError:
        syscalls.unshare(syscalls.CLONE_NEWUSER | syscalls.CLONE_NEWNS | flags)
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{user} {user} 1")
        _write("/proc/self/gid_map", f"{group} {group} 1")


def _show_entry(entry: os.DirEntry[str]) -> None:
    """As ``_show``, for one of the host's root, whose place is mostly there already."""
    from footplate.replica.isolation import syscalls  # in children only: it costs memory

    target = "/" + entry.name
    if entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False):
        try:
            syscalls.mount(entry.path, target, syscalls.MS_BIND | syscalls.MS_REC)
        except (FileNotFoundError, NotADirectoryError):
            _show(entry.path, target)
    else:
        _show(entry.path, target)


def _show(source: str, target: str) -> None:
    """Make ``source`` appear at ``target``, with all that is mounted below it."""
    from footplate.replica.isolation import syscalls  # in children only: it costs memory

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
