"""The port of copies: what programs see at /gcs of a bucket that is no folder of this machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from footplate.domain.names import JobUid


@dataclass(frozen=True)
class Copied:
    """``complete``: nothing is left to do. ``skipped`` are names that no file can have."""

    complete: bool
    objects: int = 0
    size_bytes: int = 0
    skipped: tuple[str, ...] = ()


class BucketCopies(Protocol):
    """A folder for each job and bucket. Both calls go on where an earlier one ended.

    They raise the errors of the bucket: Unavailable may be over later.
    """

    def folder(self, job: JobUid, bucket: str) -> Path:
        """Returns where the copy lies, once it was fetched."""
        ...

    def fetch(self, job: JobUid, bucket: str, prefixes: tuple[str, ...]) -> Copied:
        """Makes files of the objects that begin with the prefixes, for some seconds.

        What the program has written itself stays as it is.
        """
        ...

    def save(self, job: JobUid, bucket: str) -> Copied:
        """Makes objects of the files that are new, and deletes those of files that are gone."""
        ...

    def unsaved(self, job: JobUid, bucket: str) -> tuple[str, ...]:
        """Returns the names of the files that differ from their objects."""
        ...

    def remove(self, unneeded: Callable[[JobUid], bool]) -> None:
        """Deletes the copies of such jobs, but those with files that aren't saved."""
        ...
