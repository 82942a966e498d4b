"""Finds the files that the URIs of a dataset name, which may have wildcards."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Protocol

from footplate.domain.errors import NotFound
from footplate.domain.names import GcsUri
from footplate.ports.buckets import Listing, ObjectInfo

_WILDCARDS = re.compile(r"\*\*|[*?]")
_PATTERNS = {"**": ".*", "*": "[^/]*", "?": "[^/]"}


class Files(Protocol):
    """The part of ``ports.buckets.Buckets`` that finding files needs."""

    def stat(self, bucket: str, name: str) -> ObjectInfo: ...

    def list(
        self, bucket: str, *, prefix: str = "", limit: int = 1000, token: str | None = None
    ) -> Listing: ...


def find_files(buckets: Files, uri: str) -> Iterator[ObjectInfo]:
    """Yields the files that a URI names, in the order of their names, and at least one.

    ``*`` stands for any characters but a slash, ``**`` for any, ``?`` for one that is no slash.

    Raises NotFound: there is no such file, or no such bucket.
    """
    where = GcsUri.parse(uri, "uri")
    if not _WILDCARDS.search(where.path):
        yield buckets.stat(where.bucket, where.path)
        return
    pattern, token, found = _compile(where.path), None, False
    prefix = _WILDCARDS.split(where.path, maxsplit=1)[0]
    while True:
        page = buckets.list(where.bucket, prefix=prefix, token=token)
        for file in page.objects:
            if pattern.fullmatch(file.name):
                found = True
                yield file
        token = page.next_token
        if token is None:
            break
    if not found:
        raise NotFound(f"no file matches {uri}: put the files there, or correct the URI")


def _compile(path: str) -> re.Pattern[str]:
    texts, wildcards = _WILDCARDS.split(path), _WILDCARDS.findall(path)
    parts = [re.escape(texts[0])]
    for wildcard, text in zip(wildcards, texts[1:], strict=True):
        parts += (_PATTERNS[wildcard], re.escape(text))
    return re.compile("".join(parts), re.DOTALL)
