"""Give a directory that nobody uses yet to the user that builds have, and take it back."""

from __future__ import annotations

import contextlib
import os
import stat

from footplate.replica.environment.errors import PreparationError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterator, Sequence

    from footplate.replica.isolation.users import User

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@contextlib.contextmanager
def lent(path: str, user: User | None) -> Iterator[None]:
    """What the user leaves there is this process's afterwards, and nobody else can write it."""
    if user is None:
        yield
        return
    _give(path, user.uid, user.gid)
    try:
        yield
    finally:
        _give(path, os.geteuid(), os.getegid())


def check_real(paths: Sequence[str]) -> None:
    """Raises PreparationError: one of the directories, or one above it, was replaced by a link."""
    for path in paths:
        if os.path.realpath(path) != path:
            raise PreparationError(f"the installation has made a link of {path}")


def _give(path: str, uid: int, gid: int) -> None:
    """Links aren't followed; files that have another name elsewhere stay whose they are."""
    for _, directories, files, parent in os.fwalk(path):
        os.fchown(parent, uid, gid)
        os.fchmod(parent, os.fstat(parent).st_mode & 0o777 & ~_OTHERS_WRITE)
        for name in (*directories, *files):
            _give_entry(name, parent, uid, gid)


def _give_entry(name: str, parent: int, uid: int, gid: int) -> None:
    try:
        descriptor = os.open(name, _FLAGS, dir_fd=parent)
    except OSError:  # a link
        os.chown(name, uid, gid, dir_fd=parent, follow_symlinks=False)
        return
    try:
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode) and (status.st_nlink == 1 or uid == os.geteuid()):
            os.fchown(descriptor, uid, gid)
            os.fchmod(descriptor, status.st_mode & 0o777 & ~_OTHERS_WRITE)
    finally:
        os.close(descriptor)
