"""Defaults of options, some of them from the properties of gcloud."""

from __future__ import annotations

import configparser
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_PROJECT = "demo"
PROJECT_VARIABLES = ["FOOTPLATE_PROJECT", "CLOUDSDK_CORE_PROJECT", "GOOGLE_CLOUD_PROJECT"]
DEFAULT_REGION = "us-central1"
LOOPBACK = ("127.0.0.1", "localhost", "::1")


GPU_TYPE = "NVIDIA_TESLA_T4"
"""The accelerator type of this machine's GPUs in a private service, where any type works."""
_NAME = re.compile(r"[a-z][-a-z0-9]*")
"""Of a configuration; others are no part of a file's name."""


def default_region(environ: Mapping[str, str], section: str, fallback: str) -> str:
    """Returns the region to use if neither an option nor a file names one.

    ``section`` is ``ai_platform`` or ``ai``. The variables of that section and of ``compute`` come
    first, then both in gcloud's active configuration, then ``fallback``.
    """
    properties = _active_configuration(environ)
    candidates = (
        environ.get(f"CLOUDSDK_{section.upper()}_REGION"),
        environ.get("CLOUDSDK_COMPUTE_REGION"),
        properties.get((section, "region")),
        properties.get(("compute", "region")),
    )
    # "global" names gcloud's global endpoint; `footplate env` sets it, and no job runs there.
    return next((each for each in candidates if each and each != "global"), fallback)


def _active_configuration(environ: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """Returns gcloud's values by section and name; none if its configuration can't be read."""
    home = Path(environ.get("CLOUDSDK_CONFIG") or "~/.config/gcloud")
    try:
        home = home.expanduser()
        name = environ.get("CLOUDSDK_ACTIVE_CONFIG_NAME") or _read(home / "active_config").strip()
        if not _NAME.fullmatch(name):
            return {}
        parser = configparser.ConfigParser(interpolation=None)
        parser.read_string(_read(home / "configurations" / f"config_{name}"))
    except (OSError, RuntimeError, ValueError, configparser.Error):
        # gcloud's settings are an offer
        return {}
    return {(s, key): value for s in parser.sections() for key, value in parser.items(s)}


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
