"""Has TensorFlow trust the service's proxy, through which its own ``gs://`` leads to the buckets.

A hook sets TensorFlow's variables in Python programs (``program_hook``). TensorFlow 1 trusts
only the authorities in a file of the machine: the program sees one with ours in its place.
"""

from __future__ import annotations

import os
import sys

from footplate.replica.file_io import read_start, write_readable

MACHINE_ROOTS = "/etc/ssl/certs/ca-certificates.crt"
"""It is compiled into TensorFlow 1."""


def make_roots(
    authority: str, directory: str, machine: str = MACHINE_ROOTS
) -> list[tuple[str, str]]:
    """Writes a file of certificates for programs; returns its path with that of the machine's file,
    whose place it takes.

    Raises OSError.
    """
    if not authority or not os.path.isfile(machine):
        return []
    path = os.path.join(directory, "ca-certificates.crt")
    write_roots(path, authority, machine)
    return [(path, machine)]


def write_roots(path: str, authority: str, machine: str = MACHINE_ROOTS) -> None:
    """Writes a file of the machine's certificates, if they are where TensorFlow looks, and ours.
    Raises OSError.
    """
    if os.path.isfile(machine):
        write_readable(path, read_machine_roots(machine), "\n", authority)
    else:
        write_readable(path, authority)


_read: dict[str, tuple[object, bytes]] = {}


def read_machine_roots(machine: str = MACHINE_ROOTS) -> bytes:
    """Returns the machine's certificates; b'' without any. Raises OSError.

    They are read again only when the file has changed. A fork server reads them for all its
    supervisors: 200 KB in each of them would be a tenth of what a supervisor takes.
    """
    if not os.path.isfile(machine):
        return b""
    status = os.stat(machine)
    state = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
    before, content = _read.get(machine, (None, b""))
    if before != state:
        content = read_start(machine, sys.maxsize).rstrip()
        _read[machine] = state, content
    return content
