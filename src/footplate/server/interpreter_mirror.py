"""Asks whether uv could fetch a Python interpreter from where it gets them."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from footplate.replica.environment.uv import UvFailed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from footplate.replica.environment.uv import Uv

_TIMEOUT_S = 3
_OWN, _ORIGIN = "https://releases.astral.sh/github/", "https://github.com/astral-sh/"
"""uv's own mirror, and what it falls back to."""


def can_fetch(version: str, uv: Uv) -> bool:
    """Returns whether uv knows a build of this version, and the server that has it answers."""
    options = ["--only-downloads", "--show-urls", "--output-format", "json"]
    try:
        said = uv.run(["python", "list", f"cpython-{version}", *options])
        listed = json.loads(said[said.index("[") :])
        urls = [str(each["url"]) for each in listed if each["implementation"] == "cpython"]
    except (UvFailed, ValueError, KeyError, TypeError):
        return False
    return any(_answers(url) for url in urls[:1] for url in _places(url))


def _places(url: str) -> Iterator[str]:
    yield url
    if url.startswith(_OWN):
        yield _ORIGIN + url.removeprefix(_OWN)


def _answers(url: str) -> bool:
    parts = urlsplit(url)
    if parts.scheme == "file":
        return Path(unquote(parts.path)).is_file()
    if parts.scheme not in ("http", "https"):
        return False
    request = urllib.request.Request(url, method="HEAD")  # noqa: S310  checked above
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S):  # noqa: S310
            return True
    except (OSError, ValueError):  # whatever is the matter, uv would get nothing either
        return False
