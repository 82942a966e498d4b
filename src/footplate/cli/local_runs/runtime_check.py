"""Checks that the runtime of a local run exists, before anything is packaged."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from footplate.catalogue import load_catalogue
from footplate.settings import load_settings

if TYPE_CHECKING:
    from footplate.domain.runtimes import Runtimes


def require_image(uri: str) -> None:
    """Raises InvalidArgument: the private service wouldn't have its runtime."""
    _runtimes().for_image(uri, "--executor-image-uri")


def require_version(version: str | None, python: str | None) -> None:
    """Raises InvalidArgument: the private service wouldn't have it, or not with this Python."""
    _runtimes().for_version(version or "", python or "", "--runtime-version")


def _runtimes() -> Runtimes:
    return load_catalogue(load_settings(os.environ).catalogue).runtimes
