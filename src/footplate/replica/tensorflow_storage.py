"""Has TensorFlow trust the service's proxy, through which its own ``gs://`` leads to the buckets.

A hook sets TensorFlow's variables in Python programs (``program_hook``). TensorFlow 1 trusts
only the authorities in a file of the machine: the program sees one with ours in its place.
"""

from __future__ import annotations

import os

from footplate.replica.file_io import read_text, write_readable

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
    write_readable(path, read_roots(authority, machine))
    return [(path, machine)]


def read_roots(authority: str, machine: str = MACHINE_ROOTS) -> str:
    """Returns the machine's certificates, if they are where TensorFlow looks, and ours. Raises
    OSError.
    """
    if not os.path.isfile(machine):
        return authority
    return f"{read_text(machine).rstrip()}\n{authority}"
