"""Trivial jobs a second: many are submitted one after the other, until the last has succeeded.

Beside Slurm with the same program, and as many bare processes, two at a time for two cores.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from desk import service, submit
from slurm import slurm

from footplate.domain.states import State

if TYPE_CHECKING:
    from slurm import Slurm

    from footplate.client.service import Service

JOBS = 60
ROUNDS = 3
PRINT = "print('hello', flush=True)"
POLL_S = 0.02


def through_footplate(client: Service, jobs: int) -> float:
    started = time.perf_counter()
    names = [submit(client, f"{PRINT}\n") for _ in range(jobs)]
    for name in reversed(names):
        while client.training_jobs.get(name).state is not State.SUCCEEDED:
            time.sleep(POLL_S)
    return time.perf_counter() - started


def through_slurm(peer: Slurm, jobs: int) -> float:
    started = time.perf_counter()
    outputs = [peer.submit(sys.executable, "-c", PRINT.replace("'", '"')) for _ in range(jobs)]
    while peer.busy():
        time.sleep(POLL_S)
    spent = time.perf_counter() - started
    assert all(path.read_text() == "hello\n" for path in outputs)
    return spent


def bare(jobs: int) -> float:
    def run(_: int) -> None:
        subprocess.run((sys.executable, "-c", PRINT), check=True, stdout=subprocess.DEVNULL)

    started = time.perf_counter()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(run, range(jobs)))
    return time.perf_counter() - started


def main() -> None:
    print("| round | footplate | slurm | ratio | bare | ratio |")
    print("|---|---|---|---|---|---|")
    with service() as (_, client), slurm() as peer:
        through_footplate(client, 1)
        for number in range(1, ROUNDS + 1):
            ours = JOBS / through_footplate(client, JOBS)
            theirs = JOBS / through_slurm(peer, JOBS) if peer else float("nan")
            floor = JOBS / bare(JOBS)
            print(
                f"| {number} | {ours:.1f}/s | {theirs:.1f}/s | {ours / theirs:.2f} | "
                f"{floor:.0f}/s | {ours / floor:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
