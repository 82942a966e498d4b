"""The rule for which buckets the programs of a project may use."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

EVERY = "*"
"""The pattern of all buckets, and of all projects."""


def may_use(bucket: str, owner: str | None, project: str, shared: Sequence[str]) -> bool:
    """Returns whether the programs of a project may use a bucket.

    ``owner`` is the project that made the bucket; if it is unknown (None), every project may use
    it. ``shared`` has names, and patterns of names, of buckets that every project may use.
    """
    return owner in (None, project) or any(fnmatchcase(bucket, pattern) for pattern in shared)
