"""Divides the long tests into shares: a run takes one of them, several runs take all.

Long is a test that takes five seconds or more, each that shares what takes long to make (an
engine, an environment that nothing else needs, a script whose parts are tests), and each that tries
more of the same. The other tests run each time.
"""

from __future__ import annotations

import tomllib
import zlib
from collections import defaultdict
from typing import TYPE_CHECKING

from tests.support import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

BUDGETS = ROOT / "tests" / "budgets.toml"
LONG_S = 5.0
WORKERS = 4
SHARED = (
    "reduction/tests/torch",
    "tests/clients/test_grpc.py",
    "tests/clients/test_vertex_sdk_experiments.py",
    "tests/clients/test_zero_change.py",
    "tests/e2e/all_backends",
    "tests/e2e/containers",
    "tests/e2e/engines",
    "tests/e2e/frameworks",
    "tests/e2e/kubernetes",
    "tests/e2e/ray",
    "tests/e2e/runtimes",
    "tests/e2e/service/test_idioms.py",
    "tests/e2e/slurm",
)
"""Folders and files whose tests are all long, for their engines, environments and scripts."""
MORE = "more-"
"""Parameters begin with it that try more of what others of the same test try each time."""
EARLIER_SDKS = ("1.38.1", "1.71.1")
"""Releases of Google's SDK beside the newest one: tests name theirs as a parameter."""
NONE, ALL, COMMIT = "none", "all", "commit"
CLIENTS = "tests/compatibility/test_wall.py"
"""Its tests are clients of other projects. Each commit runs one of them beside its share."""


def count_shares() -> int:
    with BUDGETS.open("rb") as file:
        count: int = tomllib.load(file)["shares"]
    return count


def parse_share(text: str, count: int, commit: str) -> frozenset[int]:
    """Return the shares that ``SHARE`` means: ``none``, ``all``, ``commit``, or a number from 1.

    ``commit`` takes the one that the hexadecimal ``commit`` gives. Raises ValueError.
    """
    numbers = range(1, count + 1)
    if text == NONE:
        return frozenset()
    if text == ALL:
        return frozenset(numbers)
    if text == COMMIT:
        return frozenset({int(commit[:7] or "0", 16) % count + 1})
    if text.isdecimal() and int(text) in numbers:
        return frozenset({int(text)})
    raise ValueError(f"SHARE={text}: it is none, all, commit, or a number from 1 to {count}")


def list_clients() -> list[str]:
    """Return the names that CLIENTS has as parameters: those of packages alone."""
    descriptions = (ROOT / CLIENTS).parent.glob("*/client.toml")
    return sorted(
        path.parent.name
        for path in descriptions
        if "repository" not in tomllib.loads(path.read_text("utf-8"))
    )


def choose_clients(
    names: Sequence[str], text: str, taken: frozenset[int], count: int, commit: str
) -> frozenset[str]:
    """Return those of ``names`` that run: one with ``commit``, else as even parts of all."""
    if text == COMMIT:
        return frozenset({names[int(commit[:7] or "0", 16) % len(names)]} if names else ())
    return frozenset(name for turn, name in enumerate(names) if turn % count + 1 in taken)


def is_long(name: str, seconds: Mapping[str, float]) -> bool:
    path, _, rest = name.partition("::")
    shared = any(path == place or path.startswith(f"{place}/") for place in SHARED)
    parameters = rest.partition("[")[2]
    earlier = any(release in parameters for release in EARLIER_SDKS)
    return shared or earlier or parameters.startswith(MORE) or seconds.get(name, 0.0) >= LONG_S


def share_of(path: str, shares: Mapping[str, int], count: int) -> int:
    """Return the share of a file's long tests. A file that was never measured has one, too."""
    return shares.get(path) or zlib.crc32(path.encode()) % count + 1


def divide(
    seconds: Mapping[str, float], group_of: Callable[[str], str | None], count: int
) -> dict[str, int]:
    """Return the share of each file that has long tests, so that all shares take about as long.

    Files of one group run in one worker, so a share takes as long as its longest group, or as all
    of its tests in ``WORKERS`` workers. The longest file comes first, and each goes where the
    share is the shortest with it.
    """
    files: dict[str, float] = defaultdict(float)
    for name, length in seconds.items():
        if is_long(name, seconds):
            files[name.partition("::")[0]] += length
    totals = dict.fromkeys(range(1, count + 1), 0.0)
    groups: dict[tuple[int, str], float] = defaultdict(float)
    shares = {}
    for path in sorted(files, key=lambda path: (-files[path], path)):
        group = group_of(path)

        def length_with(
            share: int, path: str = path, group: str | None = group
        ) -> tuple[float, float]:
            alone = groups[share, group] + files[path] if group else 0.0
            whole = totals[share] + files[path]
            return max(alone, whole / WORKERS), whole

        share = min(totals, key=length_with)
        shares[path] = share
        totals[share] += files[path]
        if group:
            groups[share, group] += files[path]
    return shares
