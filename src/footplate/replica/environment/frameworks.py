"""Protects a runtime's framework from the user's requirements.

A framework is replaced only where a package pins another version of it (``torch==2.4.1``). Then it
brings its own dependencies; some frameworks don't name all limits of theirs, so these are here.
"""

from __future__ import annotations

import re

from footplate.replica.environment.installed_distributions import name_of, normalize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterable, Mapping, Sequence

    from footplate.replica.environment.install_plan import Change

FRAMEWORKS = {"torch": "torch", "tensorflow": "tensorflow", "tensorflow-cpu": "tensorflow"}
"""Distributions, each with the module that it provides."""
TORCH_FAMILY = ("torch", "torchvision", "torchaudio")
"""They fit each other only in builds for the same CUDA version, or all for the CPU."""
_PIN = re.compile(r"[A-Za-z0-9._-]+(?:\[[^\]]*\])?\(?={2,3}([^,)]+)\)?")
"""A pinned requirement without spaces and markers."""
_ADDRESS = re.compile(r"[A-Za-z0-9._-]+(?:\[[^\]]*\])?\s*@")
_LIMITS = (
    ("tensorflow", (2, 12), "protobuf<3.21"),
    ("tensorflow", (2, 12), "numpy<1.24"),
    ("tensorflow", (2, 18), "numpy<2"),
    ("torch", (2, 3), "numpy<2"),
)
"""Module, the first version that has no such limit, and the limit."""


class Frameworks:
    """The versions of frameworks: ``installed`` are the runtime's packages, ``requirements`` those
    of the user's packages.
    """

    def __init__(self, installed: Mapping[str, str], requirements: Iterable[str]) -> None:
        self.installed = {name: v for name, v in installed.items() if name in FRAMEWORKS}
        self._pins = {
            normalize(name_of(text)): text for text in requirements if pinned_version(text)
        }

    @property
    def pinned(self) -> dict[str, str]:
        """The frameworks that the user's packages pin, each with the requirement."""
        return {name: text for name, text in self._pins.items() if name in FRAMEWORKS}

    def is_pinned(self, name: str) -> bool:
        """Returns whether the user's packages pin a framework to one version, or to a file."""
        return name in self._pins

    def keep_all(self) -> list[str]:
        """Returns requirements that keep all frameworks as they are."""
        return [f"{name}=={version}" for name, version in sorted(self.installed.items())]

    def keep_unpinned(self) -> list[str]:
        """Returns requirements that keep the frameworks that no package pins."""
        modules = {FRAMEWORKS[name] for name in self.pinned}
        return [line for line in self.keep_all() if FRAMEWORKS[name_of(line)] not in modules]

    def limits(self, *, pinned: bool) -> list[str]:
        """Returns the limits on other packages that the frameworks in use need, but don't
        declare.
        """
        versions = dict(self.installed)
        if pinned:
            modules = {FRAMEWORKS[name] for name in self.pinned}
            versions = {n: v for n, v in versions.items() if FRAMEWORKS[n] not in modules}
            versions.update((name, pinned_version(text)) for name, text in self.pinned.items())
        found = [
            limit
            for name, version in versions.items()
            for module, end, limit in _LIMITS
            if FRAMEWORKS[name] == module and (2,) <= _numbers(version) < end
        ]
        return list(dict.fromkeys(found))

    def find_replaced(self, changes: Sequence[Change]) -> list[tuple[Change, str]]:
        """Returns the changes that would replace a framework of the runtime, each with the
        runtime's version.
        """
        return [
            (change, self.installed[change.name])
            for change in changes
            if change.added and change.name in self.installed
        ]


def pinned_version(requirement: str) -> str:
    """Returns the one version that a requirement admits, or the address of a file; '' if it admits
    several.
    """
    match = _PIN.fullmatch("".join(requirement.partition(";")[0].split()))
    if match is not None:
        return match.group(1)
    return requirement if _ADDRESS.match(requirement) else ""


def find_mismatched(changes: Sequence[Change], build: str) -> list[Change]:
    """Returns PyTorch and its companions among ``changes`` that aren't for ``build``."""
    return [
        change
        for change in changes
        if change.added and change.name in TORCH_FAMILY and change.local_version != build
    ]


def _numbers(version: str) -> tuple[int, ...]:
    found = re.match(r"(\d+)\.(\d+)", version)
    return (int(found.group(1)), int(found.group(2))) if found is not None else ()
