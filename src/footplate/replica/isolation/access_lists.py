"""Access lists that let a group read and write a directory with all that is and comes below it.

They stand in where a file system can't map the owners of its files.
"""

from __future__ import annotations

import errno
import os
import stat
import struct

from footplate.safe_path import ROOT, directory, split

_ACCESS = "system.posix_acl_access"
_DEFAULT = "system.posix_acl_default"
_VERSION = 2
_USER_OBJ, _GROUP_OBJ, _GROUP, _MASK, _OTHER = 1, 4, 8, 16, 32
_NOBODY = 0xFFFFFFFF
_READ_WRITE, _ALL = 6, 7


def grant(top: str, gid: int) -> None:
    """Grants the group ``gid`` access to the tree at the real path ``top``, once: a second call
    does nothing. No link is followed.

    Raises OSError if the file system has no access lists, or part of the path has become a link.
    """
    with directory(ROOT, split(top)) as opened:
        if _is_granted(opened, gid):
            return
        for _, directories, files, parent in os.fwalk(".", dir_fd=opened):
            for name in (*directories, *files):
                _grant_entry(name, parent, gid)
        _grant_directory(opened, os.fstat(opened).st_mode, gid)


def _is_granted(top: int, gid: int) -> bool:
    try:
        return struct.pack("<HHI", _GROUP, _ALL, gid) in os.getxattr(top, _DEFAULT)
    except OSError:  # setting them reports it
        return False


def _grant_entry(name: str, parent: int, gid: int) -> None:
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=parent)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO, errno.ENOENT):  # a link, a socket, or gone
            return
        raise
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            _grant_directory(descriptor, mode, gid)
        elif stat.S_ISREG(mode):
            os.setxattr(descriptor, _ACCESS, _encode(mode, _READ_WRITE | mode & 1, gid))
    finally:
        os.close(descriptor)


def _grant_directory(descriptor: int, mode: int, gid: int) -> None:
    for name in (_ACCESS, _DEFAULT):
        os.setxattr(descriptor, name, _encode(mode, _ALL, gid))


def _encode(mode: int, permissions: int, gid: int) -> bytes:
    """Returns the list as the kernel reads it: ordered, with a mask as one entry names a group."""
    entries = (
        (_USER_OBJ, mode >> 6 & 7, _NOBODY),
        (_GROUP_OBJ, mode >> 3 & 7, _NOBODY),
        (_GROUP, permissions, gid),
        (_MASK, permissions | mode >> 3 & 7, _NOBODY),
        (_OTHER, mode & 7, _NOBODY),
    )
    return struct.pack("<I", _VERSION) + b"".join(struct.pack("<HHI", *e) for e in entries)
