"""Parses uv's preview of an installation."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from footplate.replica.environment.installed_distributions import normalize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterator

_CHANGE = re.compile(
    r"^ ([+~-]) ([A-Za-z0-9._-]+)(?:==(\S+))?(?: @ (\S+)| \(from (\S+)\))?\s*$", re.MULTILINE
)


class Change:
    """A distribution to be installed above the base, or that hides something of it."""

    def __init__(self, sign: str, name: str, version: str, url: str) -> None:
        self.added = sign != "-"
        self.name = normalize(name)
        self.version = version
        self.url = url

    @property
    def requirement(self) -> str:
        return f"{self.name} @ {self.url}" if self.url else f"{self.name}=={self.version}"

    @property
    def path(self) -> str:
        """The path of the file, if it is one of this machine."""
        return unquote(urlsplit(self.url).path)

    @property
    def local_version(self) -> str:
        """The build that a version names, such as ``cpu`` of ``2.13.0+cpu``."""
        return self.version.partition("+")[2]


def read_changes(output: str) -> Iterator[Change]:
    """Yields the lines of uv that say what would be installed and what would go."""
    for sign, name, version, url, source in _CHANGE.findall(output):
        yield Change(sign, name, version, url or source)
