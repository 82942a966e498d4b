"""Seconds that tests take: the committed ones, and those of the last runs in this checkout.

A test's seconds are those of its set-up, its call and its teardown, in one of four workers on two
quiet cores. Those under a second aren't committed.
"""

from __future__ import annotations

import json
import os
import statistics
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from tests.support import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

COMMITTED = ROOT / "tests" / "durations.json"
MEASURED = ROOT / ".cache" / "tests" / "durations.json"
SHORT_S = 1.0
_COMPARABLE = 20
"""So many tests tell how much slower than the committed measurement this machine is now."""


def load(path: Path = COMMITTED) -> dict[str, float]:
    """Return the seconds by test; empty if nothing has been measured."""
    if not path.exists():
        return {}
    seconds: dict[str, float] = json.loads(path.read_text(encoding="utf-8"))
    return seconds


def record(seconds: Mapping[str, float], path: Path = MEASURED) -> None:
    """Add a run's seconds to the file, at once or not at all: two runs may end together.

    Of several runs of a test the quickest counts, as the others were beside something else.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    earlier = load(path)
    merged = {**earlier, **{n: min(s, earlier.get(n, s)) for n, s in seconds.items()}}
    draft = path.with_suffix(f".{os.getpid()}")
    rows = (f" {json.dumps(name)}: {merged[name]:.2f}" for name in sorted(merged))
    draft.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    draft.replace(path)


def merge(
    committed: Mapping[str, float], measured: Mapping[str, float], exist: Iterable[str]
) -> dict[str, float]:
    """Return what is to be committed: of the tests that exist, those of a second and more."""
    merged = {**committed, **measured}
    return {name: merged[name] for name in exist if merged.get(name, 0.0) >= SHORT_S}


def slowdown(committed: Mapping[str, float], measured: Mapping[str, float]) -> float:
    """Return by how much this machine is slower than the committed measurement; at least 1."""
    ratios = [measured[name] / committed[name] for name in committed if name in measured]
    return max(1.0, statistics.median(ratios)) if len(ratios) >= _COMPARABLE else 1.0


def exists(name: str) -> bool:
    """Return whether a file still has a test of this name."""
    path, _, rest = name.partition("::")
    function = rest.rpartition("::")[2].partition("[")[0]
    return (ROOT / path).is_file() and function in (ROOT / path).read_text(encoding="utf-8")


def plain_name(nodeid: str) -> str:
    """Return a test's name without the group that xdist adds to it (``NAME@GROUP``)."""
    name, at, group = nodeid.rpartition("@")
    return name if at and "]" not in group else nodeid


def folder_of(name: str) -> str:
    """Return the folder that a test's budget is for, such as ``tests/e2e/service``."""
    parts = PurePosixPath(name.partition("::")[0]).parent.parts
    return "/".join(parts[: 3 if parts[:2] == ("tests", "e2e") else 2])
