"""Real configuration files and their verdicts: ``../shared/corpus``, beside the repository."""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "corpus"


@dataclass(frozen=True)
class Entry:
    """``decided_by``: ``client`` or ``service`` for a file that is refused; ``-`` else."""

    path: Path
    surface: str
    accepted: bool
    decided_by: str
    reason: str

    def __str__(self) -> str:
        return self.path.name.partition("-")[0]


def entries(surface: str) -> tuple[Entry, ...]:
    """Those of a surface, ``aip``, ``vertex-custom`` or ``vertex-hp``; none without a corpus."""
    index = FOLDER / "index.tsv"
    if not index.is_file():
        return ()
    with index.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    return tuple(
        Entry(
            path=FOLDER / "configs" / row["file"],
            surface=surface,
            accepted=row["expected"] == "accept",
            decided_by=row["decided_by"],
            reason=row["reason"],
        )
        for row in rows
        if row["surface"] == surface
    )


def require_corpus() -> None:
    """Without it the test that asks is skipped, and in CI it fails."""
    if FOLDER.is_dir():
        return
    if os.environ.get("CI"):
        pytest.fail(f"{FOLDER} is missing")
    pytest.skip(f"{FOLDER} is missing")
