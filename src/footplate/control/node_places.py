"""The paths and addresses that a replica on another machine has in place of this machine's."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NodePlaces:
    """The paths and addresses of a replica's machine.

    ``url`` is the address at which its launcher forwards calls to the server; empty: the replica
    runs on this machine. ``files`` is the folder with its copies of buckets; empty: it uses the
    buckets' own folders.
    """

    url: str = ""
    files: str = ""
    gcs: bool = False
    """Its programs find the buckets at ``/gcs``: their mount namespace was promised."""


HERE = NodePlaces()
