"""Maps URIs to local paths for programs on this machine."""

from __future__ import annotations

from footplate.domain.names import GcsUri
from footplate.ports.buckets import Buckets


def local_path(uri: str, buckets: Buckets) -> str:
    """Returns the local path of a URI; keeps a trailing slash, and a URI without a folder.

    Raises NotFound: the bucket doesn't exist.
    """
    if not uri.startswith("gs://"):
        return uri
    path = buckets.local_path(GcsUri.parse(uri, "directory"))
    if path is None:
        return uri
    return f"{path}/" if uri.endswith("/") else str(path)
