"""Rules for bucket and object names: those of GCS, and those of file systems."""

from __future__ import annotations

import re
from dataclasses import dataclass

from footplate.domain.bucket_copying import find_problem
from footplate.domain.errors import InvalidArgument

MAX_NAME_BYTES = 1024
_BUCKET = re.compile(r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?", re.ASCII)
_ADDRESS = re.compile(r"[0-9]+(\.[0-9]+){3}", re.ASCII)
_BUCKET_RULE = (
    "3 to 63 lowercase letters, digits, '-', '_' and '.' (222 with dots, 63 between two). The "
    "name begins and ends with a letter or digit, is no IP address, doesn't begin with 'goog', "
    "and doesn't contain 'google'"
)


@dataclass(frozen=True)
class ObjectPath:
    """An object's path in its bucket; ``directory`` if its name ends in a slash."""

    parts: tuple[str, ...]
    directory: bool = False

    @property
    def parents(self) -> tuple[str, ...]:
        return self.parts[:-1]

    @property
    def last(self) -> str:
        return self.parts[-1]


def check_bucket_name(name: str) -> None:
    """Checks a bucket's name. Raises InvalidArgument.

    Source: cloud.google.com/storage/docs/buckets#naming.
    """
    parts = name.split(".")
    fits = (
        3 <= len(name) <= (222 if "." in name else 63)
        and _BUCKET.fullmatch(name)
        and not _ADDRESS.fullmatch(name)
        and all(_BUCKET.fullmatch(part) and len(part) <= 63 for part in parts)
        and not name.startswith("goog")
        and "google" not in name
    )
    if not fits:
        raise InvalidArgument(
            f"{name[:200]!r} can't be the name of a bucket; allowed: {_BUCKET_RULE}"
        )


def parse_object_name(name: str) -> ObjectPath:
    """Returns the path of the object with this name.

    Raises:
        InvalidArgument: GCS refuses the name, or a folder can't hold it; the message says which.
    """
    check_object_name(name)
    directory = name.endswith("/")
    parts = tuple(name.removesuffix("/").split("/"))
    for part in parts:
        if problem := find_problem(part):
            raise InvalidArgument(
                f"object name {_shorten(name)}: GCS would accept the name, but this bucket is a "
                f"folder, where {problem}"
            )
    return ObjectPath(parts, directory)


def check_object_name(name: str) -> None:
    """Checks an object's name. Raises InvalidArgument: GCS refuses it in any bucket."""
    if problem := _problem_for_gcs(name):
        raise InvalidArgument(f"object name {_shorten(name)}: {problem}")


def can_be_named(name: str) -> bool:
    """Returns whether a file at this path in a bucket's folder can be an object."""
    return not _problem_for_gcs(name)


def _problem_for_gcs(name: str) -> str:
    """Returns why GCS refuses a name; empty: it doesn't.

    Source: cloud.google.com/storage/docs/objects#naming.
    """
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        return "the name can't be encoded as UTF-8"
    if not 1 <= size <= MAX_NAME_BYTES:
        return f"the name has {size} bytes; allowed: 1 to {MAX_NAME_BYTES} bytes of UTF-8"
    if "\n" in name or "\r" in name:
        return "the name has a line break in it"
    if name in (".", "..") or name.startswith(".well-known/acme-challenge/"):
        return "GCS reserves this name"
    return ""


def _shorten(name: str) -> str:
    return repr(name) if len(name) <= 100 else f"{name[:100]!r}..."
