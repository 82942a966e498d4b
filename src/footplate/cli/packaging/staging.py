"""Uploads packages to their staging location before a job is submitted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from footplate.cli.option_values import size
from footplate.cli.packaging.archive import Archive
from footplate.cli.progress import Progress
from footplate.domain.errors import InvalidArgument
from footplate.domain.names import GcsUri

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class PackageStore(Protocol):
    """The methods of ``client.storage.Storage`` that staging uses."""

    def create_bucket(self, project: str, name: str) -> object:
        """Creates a bucket. Raises AlreadyExists."""

    def upload(self, uri: GcsUri, content: bytes, content_type: str) -> object:
        """Uploads an object. Raises NotFound if the bucket doesn't exist."""


class BuiltPackages:
    """A package store that keeps, by URI, the packages that would be uploaded."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}

    def create_bucket(self, project: str, name: str) -> None:
        """Creates no bucket, since nothing is uploaded."""

    def upload(self, uri: GcsUri, content: bytes, content_type: str) -> None:  # noqa: ARG002
        self.contents[str(uri)] = content


def staging_location(job_id: str, staging_bucket: str | None, job_dir: str | None) -> GcsUri | None:
    """Returns gcloud's location: ``gs://BUCKET/JOB`` with a staging bucket, otherwise
    ``JOB_DIR/packages``.
    """
    if staging_bucket:
        text = staging_bucket if "://" in staging_bucket else f"gs://{staging_bucket}"
        bucket = GcsUri.parse(text, "--staging-bucket")
        return GcsUri(bucket.bucket, _join(bucket.path, job_id))
    if job_dir:
        place = GcsUri.parse(job_dir, "--job-dir")
        return GcsUri(place.bucket, _join(place.path, "packages"))
    return None


def read_package(path: str) -> Archive:
    """Reads a package file. Raises InvalidArgument if it doesn't exist."""
    try:
        return Archive(Path(path).name, Path(path).expanduser().read_bytes())
    except OSError as error:
        raise InvalidArgument(f"--packages: {path}: {error.strerror}") from None


def check_names(archives: Iterable[Archive]) -> None:
    """Refuses two packages of the same name, one of which would hide the other."""
    counts = Counter(archive.name for archive in archives)
    if twice := [name for name, count in counts.items() if count > 1]:
        raise InvalidArgument(f"two packages have the name {', '.join(twice)}; rename one of them")


def stage(storage: PackageStore, location: GcsUri, archives: Sequence[Archive]) -> list[str]:
    """Uploads each package to a folder named by its content; returns their URIs, in order.

    Shows the progress on a terminal.

    Raises:
        NotFound: the bucket doesn't exist; the message says how to create it.
    """
    uris = []
    with Progress("Uploading", len(archives), plain=False) as progress:
        for archive in archives:
            uri = staged_uri(location, archive)
            progress.step(f"Uploading {archive.name} ({size(len(archive.content))})")
            storage.upload(uri, archive.content, "application/gzip")
            uris.append(str(uri))
    return uris


def staged_uri(location: GcsUri, archive: Archive) -> GcsUri:
    """Returns the URI to which ``stage`` uploads a package."""
    path = _join(location.path, f"{archive.sha256}/{archive.name}")
    return GcsUri(location.bucket, path)


def _join(folder: str, name: str) -> str:
    return f"{folder.rstrip('/')}/{name}" if folder.strip("/") else name
