"""The port of copies: what programs see at /gcs of a bucket that is no folder of this machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from footplate.domain.names import JobUid


@dataclass(frozen=True)
class Copied:
    """The result of copying; ``complete``: nothing is left to do.

    ``skipped`` are names that no file can have.
    """

    complete: bool
    objects: int = 0
    size_bytes: int = 0
    skipped: tuple[str, ...] = ()


class BucketCopies(Protocol):
    """The copies of buckets: a folder for each job and bucket.

    Fetching and saving continue where an earlier call ended. They raise the errors of the bucket,
    of which Unavailable may pass.
    """

    def folder(self, job: JobUid, bucket: str) -> Path:
        """Returns the folder of the copy, which exists once it was fetched."""
        ...

    def fetch(self, job: JobUid, bucket: str, prefixes: tuple[str, ...]) -> Copied:
        """Copies the objects that begin with the prefixes to files, for some seconds.

        Files that the program has written stay unchanged.
        """
        ...

    def save(self, job: JobUid, bucket: str) -> Copied:
        """Copies new and changed files to objects, and deletes the objects of missing files."""
        ...

    def unsaved(self, job: JobUid, bucket: str) -> tuple[str, ...]:
        """Returns the names of the files that differ from their objects."""
        ...

    def remove(self, unneeded: Callable[[JobUid], bool]) -> None:
        """Deletes the copies of jobs for which ``unneeded`` is true, except unsaved copies."""
        ...
