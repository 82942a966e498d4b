"""The folders in which a program finds the buckets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_SCHEME = "gs://"
_MOUNT = "/gcs"


@dataclass(frozen=True)
class Folders:
    """The folders of buckets.

    ``named`` has folders by ``gs://BUCKET``; all other buckets are below ``/gcs``.
    """

    named: Mapping[str, str]

    def find(self, uri: str) -> str:
        """Returns the local path of ``uri``; a plain path stays unchanged."""
        if not uri.startswith(_SCHEME):
            return uri
        bucket, slash, name = uri.removeprefix(_SCHEME).partition("/")
        folder = self.named.get(f"{_SCHEME}{bucket}", f"{_MOUNT}/{bucket}")
        return f"{folder}{slash}{name}"

    def show(self, path: str) -> str:
        """Returns the user's name for the file at ``path``."""
        for uri, folder in (*self.named.items(), ("gs:/", _MOUNT)):
            if path == folder or path.startswith(f"{folder}/"):
                return f"{uri}{path.removeprefix(folder)}"
        return path
