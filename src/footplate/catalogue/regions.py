"""The regions of the catalogue."""

from __future__ import annotations

import tomllib
from importlib import resources


def load_regions() -> tuple[str, ...]:
    """Their names, sorted."""
    text = resources.files(__package__).joinpath("regions.toml").read_text(encoding="utf-8")
    return tuple(tomllib.loads(text)["regions"])
