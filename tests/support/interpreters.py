"""The Pythons of this machine."""

from __future__ import annotations

import re
import sys
from pathlib import Path


def find_interpreters() -> list[str]:
    """This one, and one of each other version that pyenv or the system has."""
    found = {sys.version_info[:2]: sys.executable}
    places = [
        *Path.home().glob(".pyenv/versions/*/bin/python3.*"),
        *Path("/usr/bin").glob("python3.*"),
    ]
    for path in sorted(places):
        if match := re.fullmatch(r"python3\.(\d+)", path.name):
            version = (3, int(match.group(1)))
            if version >= (3, 8):
                found.setdefault(version, str(path))
    return [found[version] for version in sorted(found)]


def version_of(path: str) -> str:
    """Return the last part of an interpreter's path, as tests are named by: ``python3.8``."""
    return path.rpartition("/")[2]
