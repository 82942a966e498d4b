"""Compares what the tests take with tests/budgets.toml, or commits what was measured.

``make check`` compares; ``make durations`` writes tests/durations.json from the last runs of this
checkout (``make test SHARE=all`` measures all tests; do it while the machine does nothing else).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections import defaultdict
from typing import TYPE_CHECKING

from tests.support import durations
from tests.support.selection import group_of
from tests.support.shares import BUDGETS, CLIENTS, divide, is_long

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any


def find_excesses(
    budgets: Mapping[str, Any], committed: Mapping[str, float], measured: Mapping[str, float]
) -> Iterator[str]:
    """Return a sentence for each folder, share and new test that takes longer than it may."""
    new = new_tests(committed, measured)
    for name, seconds in new.items():
        if seconds >= budgets["new_test_s"]:
            yield (
                f"{name} takes {seconds:.1f} s, and a new test may take {budgets['new_test_s']} s: "
                "run it again if the machine was busy; else prove it at a lower level, or run "
                "`make durations` and say why in the commit"
            )
    folders: dict[str, float] = defaultdict(float)
    for name, seconds in {**committed, **new}.items():
        if not is_long(name, committed):
            folders[durations.folder_of(name)] += seconds
    for folder, seconds in sorted(folders.items()):
        budget = budgets["folders"].get(folder, 0)
        if seconds > budget:
            yield f"{folder} takes {seconds:.0f} s, and its budget is {budget} s"
    for share, seconds in sum_shares(committed, budgets["shares"]).items():
        if seconds > budgets["share_s"]:
            yield f"share {share} takes {seconds:.0f} s, and may take {budgets['share_s']} s"


def new_tests(committed: Mapping[str, float], measured: Mapping[str, float]) -> dict[str, float]:
    """Return the tests of a second and more that aren't committed, as on a quiet machine."""
    slowdown = durations.slowdown(committed, measured)
    seconds = {name: each / slowdown for name, each in measured.items() if name not in committed}
    return {name: each for name, each in seconds.items() if each >= durations.SHORT_S}


def sum_shares(seconds: Mapping[str, float], count: int) -> dict[int, float]:
    shares = divide(seconds, group_of, count)
    sums = dict.fromkeys(range(1, count + 1), 0.0)
    for name, each in seconds.items():
        if is_long(name, seconds):
            sums[shares[name.partition("::")[0]]] += each
    return sums


def collect(*places: str) -> list[str]:
    """Return the names of the tests in these files, or of all; of every share."""
    command = (sys.executable, "-m", "pytest", "--collect-only", "-q", *places)
    environment = {**os.environ, "SHARE": "all"}
    listed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return [line for line in listed.stdout.splitlines() if "::" in line]


def main() -> int:
    committed, measured = durations.load(), durations.load(durations.MEASURED)
    measured = {
        name: each
        for name, each in measured.items()
        if durations.exists(name) and not name.startswith(CLIENTS)
    }
    if "--write" in sys.argv:
        names = collect()
        durations.COMMITTED.unlink(missing_ok=True)
        durations.record(durations.merge(committed, measured, names), durations.COMMITTED)
        durations.MEASURED.unlink(missing_ok=True)  # the next runs measure anew
        return 0
    with BUDGETS.open("rb") as file:
        excesses = list(find_excesses(tomllib.load(file), committed, measured))
    sys.stderr.writelines(f"{each}\n" for each in excesses)
    return 1 if excesses else 0


if __name__ == "__main__":
    sys.exit(main())
