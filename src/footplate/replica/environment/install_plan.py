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
    """A distribution to install above the base, or one that hides a distribution of the base."""

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
        """The path of the distribution's file, if it is on this machine."""
        return unquote(urlsplit(self.url).path)

    @property
    def local_version(self) -> str:
        """The build that a version names, such as ``cpu`` of ``2.13.0+cpu``."""
        return self.version.partition("+")[2]


def read_changes(output: str) -> Iterator[Change]:
    """Yields the changes in uv's output: distributions to be installed or removed."""
    for sign, name, version, url, source in _CHANGE.findall(output):
        yield Change(sign, name, version, url or source)
