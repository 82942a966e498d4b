"""Gives environments of runtimes pip, as Google's images have it.

It is the one that Python itself brings for ``ensurepip``: no lock names it, and no index has to.
"""

from __future__ import annotations

import glob
import hashlib
import os
import re
from urllib.parse import quote

from footplate.replica.environment import user_site

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from footplate.replica.environment.interpreters import Interpreter

_HOOK = "footplate_user_site"
_PLACES = ("lib*/python{minor}/ensurepip/_bundled", "share/python-wheels")
"""Below the installation: of Python itself, of Debian's and Fedora's."""
_LOCKED = re.compile(r"^pip==", re.MULTILINE)


def find_pip(interpreter: Interpreter, lock: str) -> list[str]:
    """Returns pip's requirement with its hash; nothing if ``lock`` names pip, or the interpreter
    has no pip.
    """
    with open(lock, encoding="utf-8") as file:
        if _LOCKED.search(file.read()):
            return []
    prefix = glob.escape(os.path.dirname(os.path.dirname(interpreter.path)))
    minor = ".".join(interpreter.version.split(".")[:2])
    places = [os.path.join(prefix, place.format(minor=minor)) for place in _PLACES]
    found = [path for place in places for path in glob.glob(os.path.join(place, "pip-*.whl"))]
    if not found:
        return []
    newest = max(found, key=lambda path: [int(part) for part in re.findall(r"\d+", path)])
    with open(newest, "rb") as wheel:
        digest = hashlib.sha256(wheel.read()).hexdigest()
    return [f"pip @ file://{quote(newest)}#sha256={digest}"]


def read_hook() -> dict[str, str]:
    """Returns files for a directory of packages, by which Python finds what pip installs."""
    loader: Any = user_site.__loader__  # it may be the archive of the supervisor
    path = os.path.join(os.path.dirname(__file__), "user_site.py")
    return {
        f"{_HOOK}.py": str(loader.get_data(path), "utf-8"),
        f"{_HOOK}.pth": f"import {_HOOK}\n",
    }
