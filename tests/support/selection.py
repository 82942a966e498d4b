"""Which tests run, in which order, and which of them in one worker."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from typing import TYPE_CHECKING

from tests.support import ROOT
from tests.support.durations import load
from tests.support.shares import (
    CLIENTS,
    COMMIT,
    choose_clients,
    count_shares,
    divide,
    is_long,
    list_clients,
    parse_share,
    share_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

GROUPS = {
    "tests/e2e/kubernetes": "kubernetes",
    "tests/e2e/all_backends": "kubernetes",
    "tests/e2e/ray": "ray",
    "tests/e2e/containers": "engines",
    "tests/e2e/engines": "engines",
    "tests/clients/test_gcloud_images.py": "engines",
    "tests/e2e/slurm/test_contract.py": "slurm-contract",
    "tests/e2e/slurm/test_faults.py": "slurm-faults",
    "tests/e2e/slurm/test_machines.py": "slurm-machines",
    "tests/e2e/slurm/test_files.py": "slurm-contract",
    "tests/e2e/slurm/test_idioms.py": "slurm-contract",
    "tests/e2e/slurm/test_program_calls.py": "slurm-contract",
    "tests/e2e/slurm/test_reduction.py": "slurm-contract",
    "tests/e2e/slurm/test_rest.py": "slurm-contract",
    "tests/e2e/slurm/test_service.py": "slurm-contract",
    "tests/docs/test_containers.py": "engines",
    "tests/e2e/runtimes/test_algorithms.py": "algorithms",
    "tests/e2e/service/test_algorithms.py": "algorithms",
    "tests/e2e/frameworks": "frameworks",
    "reduction/tests/torch": "torch",
    "tests/hostile/test_routes.py": "hostile",
    "tests/e2e/service/test_idioms.py": "idioms",
    "tests/e2e/service/test_local_train.py": "local-train",
    "tests/clients/test_grpc.py": "grpc",
    "tests/clients/test_vertex_sdk_experiments.py": "experiments",
    "tests/clients/test_zero_change.py": "zero-change",
    "tests/e2e/service/test_bound_stores.py": "stores",
    "tests/contract/test_buckets.py": "stores",
    "tests/unit/buckets/test_s3_store.py": "stores",
    "tests/api/storage/test_bound_clients.py": "stores",
    "tests/compatibility": "compatibility",
    "tests/console": "console",
}
"""Tests that run in one worker, because they share an engine, an environment or a service."""

SLOW = (
    *GROUPS,
    "tests/e2e",
    "tests/clients",
    "tests/hostile",
    "tests/simulation",
    "tests/docs/test_coverage.py",
    "tests/docs/test_own_loop.py",
    "tests/docs/test_pipelines.py",
    "tests/docs/test_reduction.py",
    "tests/docs/test_survival.py",
    "tests/docs/test_tuning.py",
    "tests/docs/test_tutorials.py",
    "tests/docs/test_walk.py",
    "tests/contract",
    "tests/cli",
    "tests/compatibility",
    "tests/api",
    "reduction/tests",
    "tests/unit/control/suggestions",
    "tests/unit/server/test_reduction.py",
)
"""Tests that start a server, an engine or many processes, or build an environment: ``make quick``
leaves them out."""

_UNMEASURED_S = {True: 1.0, False: 0.05}
"""About what a test takes that isn't among the committed ones, by whether it is slow."""


class Selection:
    """``share`` is what ``SHARE`` says of the long tests. Raises ValueError if that is nothing."""

    def __init__(self, share: str) -> None:
        self._seconds = load()
        self.count = count_shares()
        commit = _commit() if share == COMMIT else ""
        self._taken = parse_share(share, self.count, commit)
        self._clients = choose_clients(list_clients(), share, self._taken, self.count, commit)
        self._shares = divide(self._seconds, group_of, self.count)

    def leaves_out(self, name: str) -> bool:
        """Whether it is a long test of a share that isn't taken."""
        if name.startswith(f"{CLIENTS}::"):
            return name.partition("[")[2].rstrip("]") not in self._clients
        return is_long(name, self._seconds) and self._share_of(name) not in self._taken

    def skips_file(self, path: str) -> bool:
        """Whether no test of the file runs."""
        if path == CLIENTS:
            return not self._clients
        return path.endswith(".py") and is_long(path, {}) and self.leaves_out(path)

    def order(self, names: Sequence[str]) -> dict[str, tuple[float, int]]:
        """Return the turn of each: the longest groups and tests first, and the short ones last.

        So no worker is left alone with a long one. A group takes as long as all of its tests.
        """
        totals: dict[str, float] = defaultdict(float)
        for name in names:
            totals[group_of(name) or name] += self._weigh(name)
        return {name: (-totals[group_of(name) or name], turn) for turn, name in enumerate(names)}

    def describe(self) -> str:
        """Return which shares of the long tests this run has, and which it hasn't."""
        every = range(1, self.count + 1)
        taken = _list(n for n in every if n in self._taken) or "none"
        left_out = _list(n for n in every if n not in self._taken)
        if not left_out:
            return f"Long tests: all {self.count} shares."
        return (
            f"Long tests: of {self.count} shares {taken} ran, and not {left_out}; of the clients "
            f"of other projects {_list(sorted(self._clients)) or 'none'}. "
            "`make test SHARE=1` runs one, SHARE=all runs all."
        )

    def _share_of(self, name: str) -> int:
        return share_of(name.partition("::")[0], self._shares, self.count)

    def _weigh(self, name: str) -> float:
        return self._seconds.get(name, _UNMEASURED_S[is_slow(name)])


def group_of(name: str) -> str | None:
    """Return the group of a test or a file."""
    first = _first_of(name, GROUPS)
    return None if first is None else GROUPS[first]


def is_slow(name: str) -> bool:
    return _first_of(name, SLOW) is not None


def _first_of(name: str, places: Iterable[str]) -> str | None:
    path = name.partition("::")[0]
    return next((each for each in places if path == each or path.startswith(f"{each}/")), None)


def _list(items: Iterable[object]) -> str:
    return ", ".join(map(str, items))


def _commit() -> str:
    told = subprocess.run(
        ("git", "rev-parse", "HEAD"), cwd=ROOT, capture_output=True, text=True, check=False
    )
    return told.stdout.strip()
