"""From submit to the first line, with a cached environment.

Peers: a bare process of the same program, Slurm, until the line is in the file of its output, and
a service that isolates programs as little as it can. All take turns, so that each round is a
comparison.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from desk import service, submit
from slurm import slurm, wait_for_line

if TYPE_CHECKING:
    from slurm import Slurm

    from footplate.client.service import Service

ROUNDS = 20
OPEN = {"isolation": "best-effort", "allow_root": "true", "shared_buckets": "true"}
"""Programs with the user and the processes of the service, and all buckets."""
PRINT = "print('hello', flush=True)"


def through_footplate(client: Service) -> float:
    started = time.perf_counter()
    name = submit(client, f"{PRINT}\n")
    next(iter(client.logs(name, follow=True)))
    return time.perf_counter() - started


def through_slurm(peer: Slurm | None) -> float:
    if peer is None:
        return float("nan")
    started = time.perf_counter()
    wait_for_line(peer.submit(sys.executable, "-c", PRINT.replace("'", '"')))
    return time.perf_counter() - started


def bare_process() -> float:
    started = time.perf_counter()
    with subprocess.Popen([sys.executable, "-c", PRINT], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        return time.perf_counter() - started


def main() -> None:
    load = os.getloadavg()[0]
    with service() as (_, client), service(**OPEN) as (_, without), slurm() as peer:
        through_footplate(client)  # builds the environment
        through_footplate(without)
        through_slurm(peer)
        rounds = [
            (
                through_footplate(client),
                through_footplate(without),
                bare_process(),
                through_slurm(peer),
            )
            for _ in range(ROUNDS)
        ]
    ours, opened, bare, slurms = (statistics.median(times) for times in zip(*rounds, strict=True))
    later = [(a - b) * 1000 for a, b, _, _ in rounds]
    by_isolation = statistics.median(a / b for a, b, _, _ in rounds)
    over = statistics.median(a - c for a, _, c, _ in rounds)
    ratio = statistics.median(a / c for a, _, c, _ in rounds)
    to_slurm = statistics.median(a / d for a, _, _, d in rounds)
    print("| | |\n|---|---|")
    print(f"| load before and after | {load:.1f}, {os.getloadavg()[0]:.1f} |")
    print(f"| submit to first line | {ours * 1000:.0f} ms |")
    print(f"| the same without isolation | {opened * 1000:.0f} ms |")
    print(f"| later by isolation | {describe(later)} |")
    print(f"| ratio to without isolation | {by_isolation:.2f} |")
    print(f"| bare python process | {bare * 1000:.0f} ms |")
    print(f"| over bare | {over * 1000:.0f} ms |")
    print(f"| ratio to bare | {ratio:.1f} |")
    print(f"| sbatch to first line | {slurms * 1000:.0f} ms |")
    print(f"| ratio to sbatch | {to_slurm:.2f} |")


def describe(differences_ms: list[float]) -> str:
    """Their median, and the quartiles."""
    first, middle, third = statistics.quantiles(differences_ms, n=4)
    return f"{middle:.1f} ms ({first:.1f} to {third:.1f})"


if __name__ == "__main__":
    main()
