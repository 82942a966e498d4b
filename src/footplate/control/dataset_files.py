"""Finds the files that the URIs of a dataset name, which may have wildcards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from footplate.domain.errors import NotFound
from footplate.domain.globs import Glob
from footplate.domain.names import GcsUri
from footplate.ports.buckets import Listing, ObjectInfo


class Files(Protocol):
    """The part of ``ports.buckets.Buckets`` that finding files needs."""

    def stat(self, bucket: str, name: str) -> ObjectInfo: ...

    def list(self, bucket: str, *, prefix: str = "", token: str | None = None) -> Listing: ...


def find_files(buckets: Files, uri: str) -> Iterator[ObjectInfo]:
    """Yields the files that a URI names, in the order of their names, and at least one.

    Raises NotFound: there is no such file, or no such bucket.
    """
    where = GcsUri.parse(uri, "uri")
    if not {"*", "?"} & set(where.path):
        yield buckets.stat(where.bucket, where.path)
        return
    pattern, token, found = Glob.of_wildcards(where.path), None, False
    while True:
        page = buckets.list(where.bucket, prefix=pattern.prefix, token=token)
        for file in page.objects:
            if pattern.matches(file.name):
                found = True
                yield file
        token = page.next_token
        if token is None:
            break
    if not found:
        raise NotFound(f"no file matches {uri}: put the files there, or correct the URI")
