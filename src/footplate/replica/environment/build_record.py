"""The file ``complete.json`` in a directory of the cache: what its builder wrote down."""

from __future__ import annotations

from footplate.protocol.message import Message


class BuildRecord(Message, sparse=True):
    """The record of a build. A runtime's environment has ``slice``, ``lock_sha256`` and ``python``;
    a layer has the other fields.
    """

    path: str = ""
    """Where it was built; it can't be moved."""
    bytes: int | None = None
    digest: str = ""
    """Of its files, where programs could change them."""
    runtime: str = ""
    slice: str = ""
    lock_sha256: str = ""
    python: str = ""
    base: str = ""
    """The lock of the environment below a layer."""
    packages: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What users are to know of it."""
