"""Lists the objects that match the glob pattern of ``matchGlob``."""

from __future__ import annotations

from collections.abc import Callable

from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.globs import Glob
from footplate.ports.buckets import Listing, ObjectInfo
from footplate.wire.json_text import describe

SCANNED = 1000
MAX_SCANS = 50
"""What one page looks through at most; it has a token then, however few names match."""


def read_glob(text: str) -> Glob:
    """Reads a pattern. Raises InvalidArgument."""
    try:
        return Glob(text)
    except ValueError as error:
        said = f"{describe(text)} given; allowed: {error}"
        raise InvalidArgument.of((Violation("matchGlob", said),)) from None


def list_matching(scan: Callable[..., Listing], glob: Glob, start: str, limit: int) -> Listing:
    """Returns a page of matching objects and prefixes, from ``start`` on.

    ``scan`` takes ``start`` and ``limit``, and returns a page of all names.
    """
    objects: list[ObjectInfo] = []
    prefixes: list[str] = []
    following: str | None = max(start, glob.prefix)
    for _ in range(MAX_SCANS):
        page = scan(start=following, limit=SCANNED)
        found = [(each.name, each) for each in page.objects] + [(p, None) for p in page.prefixes]
        for name, info in sorted(found, key=lambda pair: pair[0]):
            if not glob.matches(name):
                continue
            if len(objects) + len(prefixes) == limit:
                return Listing(tuple(objects), tuple(prefixes), name)
            if info is None:
                prefixes.append(name)
            else:
                objects.append(info)
        following = page.next_token
        if following is None or following[: len(glob.prefix)] > glob.prefix:
            return Listing(tuple(objects), tuple(prefixes), None)
    return Listing(tuple(objects), tuple(prefixes), following)
