"""The paths and addresses that a replica on another machine has in place of this machine's."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NodePlaces:
    """``url`` is where its launcher passes calls on to the server; empty: it runs on this machine.

    ``files`` is the folder of its copies of buckets; empty: it sees the buckets' own folders.
    """

    url: str = ""
    files: str = ""
    gcs: bool = False
    """Its programs find the buckets at ``/gcs``: their mount namespace was promised."""


HERE = NodePlaces()
