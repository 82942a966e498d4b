"""Where packages go when a job is made, and what stands in for that in a dry run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from footplate.domain.names import GcsUri


class PackageStore(Protocol):
    """What staging uses of ``client.storage.Storage``."""

    def create_bucket(self, project: str, name: str) -> object:
        """Raises AlreadyExists."""

    def upload(self, uri: GcsUri, content: bytes, content_type: str) -> object:
        """Raises NotFound: the bucket isn't there."""


class BuiltPackages:
    """Keeps what would be uploaded, by URI."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}

    def create_bucket(self, project: str, name: str) -> None:
        """Nothing is made."""

    def upload(self, uri: GcsUri, content: bytes, content_type: str) -> None:  # noqa: ARG002
        self.contents[str(uri)] = content
