"""Turns disk errors into errors that clients may see."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from footplate.domain.errors import PermissionDenied, Unavailable

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_OF_NAMES = frozenset(
    {
        *(errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENOTEMPTY),
        *(errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL, errno.EILSEQ, errno.EXDEV),
    }
)
"""What a name or what is there may cause; callers know what it means. The rest is the disk's."""
_REFUSED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


@contextmanager
def disk_errors_as_service_errors() -> Iterator[None]:
    """Context manager that translates errors of system calls.

    It must never enclose reads from a client.
    """
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise Unavailable("the disk that holds the buckets is full; nothing changed") from error
        if error.errno in _REFUSED:
            text = f"the file system doesn't let the service do this: {error.strerror}"
            raise PermissionDenied(text) from error
        if error.errno in _OF_NAMES or error.errno is None:
            raise
        text = f"the server can't use the disk that holds the buckets now: {error.strerror}"
        raise Unavailable(text) from error
