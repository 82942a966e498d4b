"""From submit to the first line, with a cached environment.

Peers: a bare process of the same program, and Slurm, until the line is in the file of its output.
"""

from __future__ import annotations

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
    with service() as (_, client), slurm() as peer:
        through_footplate(client)  # builds the environment
        through_slurm(peer)
        rounds = [
            (through_footplate(client), bare_process(), through_slurm(peer)) for _ in range(ROUNDS)
        ]
    ours, bare, slurms = (statistics.median(times) for times in zip(*rounds, strict=True))
    over = statistics.median(a - b for a, b, _ in rounds)
    ratio = statistics.median(a / b for a, b, _ in rounds)
    to_slurm = statistics.median(a / c for a, _, c in rounds)
    print("| | |\n|---|---|")
    print(f"| submit to first line | {ours * 1000:.0f} ms |")
    print(f"| bare python process | {bare * 1000:.0f} ms |")
    print(f"| over bare | {over * 1000:.0f} ms |")
    print(f"| ratio to bare | {ratio:.1f} |")
    print(f"| sbatch to first line | {slurms * 1000:.0f} ms |")
    print(f"| ratio to sbatch | {to_slurm:.2f} |")


if __name__ == "__main__":
    main()
