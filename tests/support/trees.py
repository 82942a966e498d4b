"""Folders in which a living service works: files come and go while one looks."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def paths_below(folder: Path, *, but: Path | None = None) -> Iterator[Path]:
    """Every file, link and folder at any depth, but for the folder ``but`` and what is in it.

    What vanishes meanwhile is passed over, where ``Path.rglob`` of older Pythons fails.
    """
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if Path(place, name) != but)
        yield from (Path(place, name) for name in (*folders, *sorted(names)))
