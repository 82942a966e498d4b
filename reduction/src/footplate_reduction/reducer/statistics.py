"""Writes a file with the reducer's statistics."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from footplate_reduction.counters import Counters


def write_statistics(path: str, counters: Counters, groups: int) -> None:
    """Replaces the statistics file at once; readers never see half of it. Raises OSError."""
    said = {**asdict(counters), "groups": groups}
    draft = f"{path}.{os.getpid()}"
    with open(draft, "w", encoding="utf-8") as file:
        json.dump(said, file)
    Path(draft).replace(path)
