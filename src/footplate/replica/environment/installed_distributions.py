"""Lists installed distributions, and adds stand-ins for missing ones."""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterator

    from footplate.replica.environment.interpreters import Interpreter

_DIST_INFO = re.compile(r"([\w.-]+)-([\w.+!]+)\.dist-info")
_MAKES_WHEELS = 71
"""The version from which setuptools needs no other package for it."""
_SAME_MODULES = (
    ("tensorflow", "tensorflow-cpu"),
    ("xgboost", "xgboost-cpu"),
)
"""Distributions that provide the same modules; who requires one is served by the other."""
_METADATA = """\
Metadata-Version: 2.1
Name: {name}
Version: {version}
Summary: Stands for {real}, which provides the same modules
Requires-Dist: {real}=={version}
"""


def normalize(name: str) -> str:
    """Returns the name in the form in which package indexes compare names."""
    return re.sub(r"[-_.]+", "-", name).lower()


def find_site(path: str, interpreter: Interpreter) -> str:
    """Returns the directory of an environment in which packages lie."""
    minor = ".".join(interpreter.version.split(".")[:2])
    return os.path.join(path, "lib", f"python{minor}", "site-packages")


def find_installed(site: str | int) -> dict[str, str]:
    """Returns the versions of installed distributions by normalized name. ``site`` may be a
    descriptor.
    """
    found = {}
    for entry in os.listdir(site):
        match = _DIST_INFO.fullmatch(entry)
        if match:
            found[normalize(match.group(1))] = match.group(2)
    return found


def can_build(site: str) -> bool:
    """Returns whether a ``setup.py`` can make a wheel with the packages in ``site``."""
    installed = find_installed(site)
    major = installed.get("setuptools", "0").partition(".")[0]
    return int(major) >= _MAKES_WHEELS or ("wheel" in installed and int(major) > 0)


def add_stand_ins(site: str) -> None:
    """Adds records of distributions that others stand in for, with the same modules.

    So ``tensorflow>=2`` in a user's requirements is satisfied where tensorflow-cpu is installed.
    """
    installed = find_installed(site)
    for pair in _SAME_MODULES:
        for name, real in (pair, pair[::-1]):
            if real in installed and name not in installed:
                _add_stand_in(site, name, real, installed[real])


def _add_stand_in(site: str, name: str, real: str, version: str) -> None:
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    os.mkdir(os.path.join(site, info))
    texts = {
        "METADATA": _METADATA.format(name=name, version=version, real=real),
        "INSTALLER": "footplate\n",
    }
    texts["RECORD"] = "".join(f"{info}/{file},,\n" for file in (*texts, "RECORD"))
    for file, text in texts.items():
        with open(os.path.join(site, info, file), "w", encoding="utf-8") as opened:
            opened.write(text)


def read_requirements(metadata: str) -> Iterator[str]:
    """Yields the requirements in a METADATA text, except those of extras."""
    for line in metadata.partition("\n\n")[0].splitlines():
        field, _, value = line.partition(":")
        if field.lower() == "requires-dist" and not re.search(r"\bextra\s*==", value):
            yield value.strip()


def name_of(requirement: str) -> str:
    """Returns the normalized name at the beginning of a requirement."""
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    return normalize(match.group()) if match else ""
