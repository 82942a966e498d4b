"""Trivial jobs a second: many are submitted one after the other, until the last has succeeded.

Beside Slurm with the same program, and as many bare processes, two at a time for two cores. Slurm's
program lies on the disk, and so does Footplate's package here: it is uploaded once; *packed* are
jobs that upload one each. *CPU* is what all processes have burnt for each job: on a busy machine it
says more than jobs a second.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

from account import account
from desk import create, service, submit, upload
from slurm import slurm

from footplate.domain.job_states import State

if TYPE_CHECKING:
    from collections.abc import Callable

    from slurm import Slurm

    from footplate.client.service import Service
    from footplate.domain.names import TrainingJobName

JOBS = 60
ROUNDS = 3
PRINT = "print('hello', flush=True)"
POLL_S = 0.02
CLEARING_S = 1.5
"""What is left to do when the last has succeeded: directories of ended jobs, and the like."""


def through_footplate(client: Service, send: Callable[[], TrainingJobName], jobs: int) -> float:
    started = time.perf_counter()
    names = [send() for _ in range(jobs)]
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


def measure(burnt: Callable[[], float], run: Callable[[int], float]) -> tuple[float, float]:
    """Jobs a second, and milliseconds of processor time for each, until all is cleared up."""
    before = burnt()
    rate = JOBS / run(JOBS)
    time.sleep(CLEARING_S)
    return rate, (burnt() - before) / JOBS * 1000


def main() -> None:
    print("| round | packed | CPU | footplate | CPU | slurm | CPU | ratio | bare | CPU | ratio |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    with account() as burnt, service() as (_, client), slurm() as peer:
        pack = partial(submit, client, f"{PRINT}\n")
        send = partial(create, client, upload(client, f"{PRINT}\n"))
        through_footplate(client, send, 1)
        for number in range(1, ROUNDS + 1):
            packed, burnt_by_packs = measure(burnt, partial(through_footplate, client, pack))
            ours, burnt_by_us = measure(burnt, partial(through_footplate, client, send))
            theirs, burnt_by_them = (float("nan"),) * 2
            if peer is not None:
                theirs, burnt_by_them = measure(burnt, partial(through_slurm, peer))
            floor, burnt_bare = measure(burnt, bare)
            print(
                f"| {number} | {packed:.1f}/s | {burnt_by_packs:.0f} ms "
                f"| {ours:.1f}/s | {burnt_by_us:.0f} ms "
                f"| {theirs:.1f}/s | {burnt_by_them:.0f} ms | {ours / theirs:.2f} "
                f"| {floor:.0f}/s | {burnt_bare:.0f} ms | {ours / floor:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
