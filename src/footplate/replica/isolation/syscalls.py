"""System calls that Python does not wrap, and the limits that programs inherit.

ctypes is loaded by the first call: it costs 0.7 MB, which most supervisors save. Their forked
children make these calls.
"""

from __future__ import annotations

import errno
import os
import resource
import struct

from footplate.safe_path import PLACE, directory, split

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    import ctypes
    from types import ModuleType

CLONE_NEWNS = 0x00020000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000

MS_BIND = 4096
MS_REC = 16384
MS_SLAVE = 1 << 19
_MS_RDONLY = 1
_MS_REMOUNT = 32
MS_NOSUID_NODEV = 2 | 4
MS_NOSUID_NODEV_NOEXEC = 2 | 4 | 8

_NO_DESCRIPTOR = (1 << 31) - 1
"""Greater than any can be."""
_MNT_DETACH = 2
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38
_MAX_CAPABILITIES = 64

_OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 428, 429, 442
"""Equal on all architectures but Alpha."""
_AT_FDCWD = -100
_AT_EMPTY_PATH = 0x1000
_AT_RECURSIVE = 0x8000
_OPEN_TREE_CLONE = 1
_MOVE_MOUNT_F_EMPTY_PATH = 4
_MOUNT_ATTR_IDMAP = 0x00100000
_MOUNT_ATTR_RDONLY = 1

_KEPT_FLAGS = (
    *((2, 2), (4, 4), (8, 8)),  # nosuid, nodev, noexec
    *((1024, 1024), (2048, 2048), (4096, 1 << 21)),  # noatime, nodiratime, relatime
)
"""The flags of statvfs (Linux numbers), and those of mount for them."""


def unshare(flags: int) -> None:
    """Leaves the namespaces that ``flags`` name for new ones. Raises OSError, as all these
    functions do.
    """
    _check(_libc().unshare(flags), "unshare")


def setns(descriptor: int) -> None:
    """Enters the namespace that ``descriptor`` stands for, of whatever kind it is."""
    _check(_libc().setns(descriptor, 0), "setns")


def mount(source: str, target: str, flags: int, kind: str | None = None, data: str = "") -> None:
    """Mounts a file system; ``data`` holds options for its ``kind``. Raises OSError."""
    failure = _libc().mount(
        os.fsencode(source),
        os.fsencode(target),
        None if kind is None else kind.encode(),
        _ctypes().c_ulong(flags),
        data.encode() or None,
    )
    if failure:  # the words are only wanted then: there are thirty of these for each program
        _check(failure, f"mount {target}")


def seal(target: str) -> None:
    """Makes the mount at ``target`` read-only, without the mounts below it.

    The mount's other restrictions must be given again: an ordinary user may not lift them.
    """
    said = os.statvfs(target).f_flag
    kept = sum(flag for bit, flag in _KEPT_FLAGS if said & bit)
    mount("none", target, _MS_REMOUNT | MS_BIND | _MS_RDONLY | kept)


def seal_tree(target: str) -> None:
    """Makes the mount at ``target`` and all mounts below it read-only; before Linux 5.12 the upper
    one alone.
    """
    attributes = struct.pack("=QQQQ", _MOUNT_ATTR_RDONLY, 0, 0, 0)
    size = _ctypes().c_size_t(len(attributes))
    path = os.fsencode(target)
    if _libc().syscall(_MOUNT_SETATTR, _AT_FDCWD, path, _AT_RECURSIVE, attributes, size):
        seal(target)


def detach(target: str) -> None:
    _check(_libc().umount2(os.fsencode(target), _MNT_DETACH), f"umount {target}")


def pivot_root(new: str, old: str) -> None:
    _check(_libc().pivot_root(os.fsencode(new), os.fsencode(old)), "pivot_root")


def close_all_but(kept: set[int]) -> bool:
    """Closes all descriptors but these; returns False if this kernel or library can't do it at
    once.
    """
    first = 0
    try:
        for descriptor in (*sorted(kept), _NO_DESCRIPTOR):
            if first < descriptor and _libc().close_range(first, descriptor - 1, 0):
                return False
            first = descriptor + 1
    except AttributeError:
        return False
    return True


def die_with_parent(signal: int) -> None:
    """Makes the kernel send ``signal`` to this process when the thread that forked it ends."""
    _check(_libc().prctl(_PR_SET_PDEATHSIG, signal, 0, 0, 0), "prctl")


def forgo_new_privileges() -> None:
    """Keeps programs of this process from gaining any right: neither by setuid nor by file."""
    _check(_libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")
    for capability in range(_MAX_CAPABILITIES):
        if _libc().prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0):
            number = _ctypes().get_errno()
            # There are no more; or this process may not, and has none to leave to a program.
            if number == errno.EINVAL or (number == errno.EPERM and not capability):
                return
            raise OSError(number, f"prctl: {os.strerror(number)}")


def limit_resources(processes: int) -> None:
    """Forbids core dumps, and allows at most ``processes`` of the same user; 0 leaves their number.

    The kernel counts processes for each user, and doesn't count root's.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if processes:
        _, most = resource.getrlimit(resource.RLIMIT_NPROC)
        count = processes if most == resource.RLIM_INFINITY else min(processes, most)
        resource.setrlimit(resource.RLIMIT_NPROC, (count, count))


def bind_real(host: str, path: str, target: str) -> None:
    """Binds the directory ``path`` of the file system at ``host``, with all that is mounted below.

    No part of ``path`` may be a link. The working directory is the same afterwards.
    """
    here = os.open(".", PLACE)
    try:
        with directory(host, split(path), flags=PLACE) as source:
            os.fchdir(source)
            mount(".", target, MS_BIND | MS_REC)
    finally:
        os.fchdir(here)
        os.close(here)


def mount_mapped(host: str, path: str, target: str, id_map: int) -> None:
    """Does what ``bind_real`` does, with the owners that the user namespace ``id_map`` gives."""
    with directory(host, split(path), flags=PLACE) as source:
        tree = clone_mapped(source, id_map)
    try:
        place = _AT_FDCWD, os.fsencode(target)
        failure = _libc().syscall(_MOVE_MOUNT, tree, b"", *place, _MOVE_MOUNT_F_EMPTY_PATH)
        _check(failure, f"move_mount {target}")
    finally:
        os.close(tree)


def clone_mapped(source: int, id_map: int) -> int:
    """Returns a descriptor of a mount, without a place yet, of ``source`` with other owners."""
    flags = _OPEN_TREE_CLONE | _AT_RECURSIVE | _AT_EMPTY_PATH | os.O_CLOEXEC
    tree = _libc().syscall(_OPEN_TREE, source, b"", flags)
    _check(int(tree < 0), "open_tree")
    try:
        attributes = struct.pack("=QQQQ", _MOUNT_ATTR_IDMAP, 0, 0, id_map)
        flags = _AT_EMPTY_PATH | _AT_RECURSIVE
        size = _ctypes().c_size_t(len(attributes))
        failure = _libc().syscall(_MOUNT_SETATTR, tree, b"", flags, attributes, size)
        _check(failure, "mount_setattr")
    except BaseException:
        os.close(tree)
        raise
    return int(tree)


def become_subreaper() -> None:
    """Makes orphans among the descendants children of this process, from now on."""
    _check(_libc().prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "prctl")


def _libc() -> ctypes.CDLL:
    if not _LIBRARIES:
        _LIBRARIES.append(_ctypes().CDLL(None, use_errno=True))
    return _LIBRARIES[0]


_LIBRARIES: list[ctypes.CDLL] = []
"""The C library, once it has been loaded. (A cache of functools would cost memory.)"""


def _ctypes() -> ModuleType:
    import ctypes  # here: see above

    return ctypes


def _check(failure: int, what: str) -> None:
    if failure:
        number = _ctypes().get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
