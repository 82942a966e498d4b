"""What a test needs of its machine: without it the test is skipped, and in CI it fails."""

from __future__ import annotations

import glob
import os
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.support import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping

PACKAGES = ROOT / "requirements" / "machine.txt"


def require(missing: str | None) -> None:
    """``missing`` says what there isn't; None: nothing is missing."""
    if missing is not None:
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)


def require_view(*, seen: bool) -> None:
    """``seen``: whether the program found a file system of its own."""
    require(None if seen else "this machine has no mount namespaces")


def require_packages(what: str, *packages: str, root: bool = False) -> None:
    """Skip the test unless this machine has these packages of ``requirements/machine.txt``.

    ``what``: a reader's word for what they are together. ``root``: whether it needs that, too.
    """
    require(describe_lack(what, *packages, root=root))


def needs_packages(what: str, *packages: str) -> pytest.MarkDecorator:
    """Return the mark of a test that is skipped without these packages; CI runs it in any case."""
    reason = describe_lack(what, *packages)
    skipped = reason is not None and os.environ.get("CI") != "true"
    return pytest.mark.skipif(skipped, reason=reason or "nothing is missing")


def describe_lack(what: str, *packages: str, root: bool = False) -> str | None:
    """Return what this machine lacks for it, and how to get that; None: nothing."""
    if root and os.geteuid() != 0:
        return f"needs root, for {what}"
    absent = find_absent(read_packages(), packages)
    return f"needs {what}: apt-get install {' '.join(absent)}" if absent else None


def read_packages() -> dict[str, tuple[str, ...]]:
    """Return by which commands or patterns of paths each package is found."""
    lines = PACKAGES.read_text(encoding="utf-8").splitlines()
    rows = (line.split() for line in lines if line and not line.startswith("#"))
    return {package: tuple(probes) for package, *probes in rows}


def find_absent(known: Mapping[str, tuple[str, ...]], packages: tuple[str, ...]) -> list[str]:
    return [name for name in packages if not any(map(_is_there, known[name]))]


def _is_there(probe: str) -> bool:
    # Debian has its servers where the PATH of ordinary users doesn't lead.
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"))
    return shutil.which(probe, path=path) is not None or bool(glob.glob(probe))  # noqa: PTH207
