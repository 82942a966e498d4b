"""Bucket and object names in URLs.

Object names are percent-encoded there, slashes included; so they are taken from the path as
it was sent, in which ``o/a%2Fcompose`` and ``o/a/compose`` are different things.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote_to_bytes

from starlette.requests import Request

from footplate.domain.errors import InvalidArgument, NotFound

_OBJECT = re.compile(r"/b/([^/]+)/o/(.+)")
_COMPOSE = re.compile(r"/b/([^/]+)/o/([^/]+)/compose")
_COPY = re.compile(r"/b/([^/]+)/o/([^/]+)/(?:rewriteTo|copyTo)/b/([^/]+)/o/([^/]+)")


@dataclass(frozen=True)
class ObjectName:
    bucket: str
    name: str


def object_in(request: Request) -> ObjectName:
    return ObjectName(*_match(_OBJECT, request))


def composed_in(request: Request) -> ObjectName | None:
    """Returns the object that a compose request creates; None for any other request."""
    found = _COMPOSE.fullmatch(_path(request))
    return ObjectName(*map(_decode, found.groups())) if found else None


def copied_in(request: Request) -> tuple[ObjectName, ObjectName]:
    """Returns the object to copy from and the one to copy to."""
    bucket, name, to_bucket, to_name = _match(_COPY, request)
    return ObjectName(bucket, name), ObjectName(to_bucket, to_name)


def object_path(bucket: str, name: str) -> str:
    return f"storage/v1/b/{bucket}/o/{quote(name, safe='')}"


def _match(pattern: re.Pattern[str], request: Request) -> tuple[str, ...]:
    found = pattern.fullmatch(_path(request))
    if found is None:
        raise NotFound(f"the service serves nothing at {request.url.path}")
    return tuple(map(_decode, found.groups()))


def _path(request: Request) -> str:
    raw: bytes = request.scope.get("raw_path") or quote(request.scope["path"]).encode()
    return raw.decode("ascii", "replace").partition("/storage/v1")[2]


def _decode(text: str) -> str:
    try:
        return unquote_to_bytes(text).decode()
    except UnicodeDecodeError:
        raise InvalidArgument(f"{text[:200]!r} in the URL is not UTF-8, percent-encoded") from None
