"""Folders of engines: with short paths, and outside of pytest's, which others can't enter."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def short_folder(engine: str) -> Iterator[Path]:
    """Sockets' paths have 107 bytes at most, and munged, which gives up its rights, must find its
    own.
    """
    with tempfile.TemporaryDirectory(prefix=f"{engine}-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)
