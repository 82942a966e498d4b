"""Trivial jobs a second: many are submitted one after the other, until the last has succeeded.

Beside Slurm, and as many bare processes, two at a time for two cores, each with the interpreter and
the program of the jobs. Slurm's program lies on the disk, and so does Footplate's package here: it
is uploaded once; *packed* are jobs that upload one each. *CPU* is what all processes have burnt for
each job, and *server* the server's part of it: on a busy machine they say more than jobs a second.

``--calls`` prints what a job asks of the server instead: HTTP calls, and transactions of its
database. ``--without-slurm`` leaves Slurm out.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import urlopen

from account import account
from desk import BUCKET, CACHE, create, service, submit, upload
from processes import cpu_s
from slurm import slurm
from transactions import COUNTS

from footplate.client.service import Service
from footplate.domain.job_states import State
from footplate.testing.service import RunningService

if TYPE_CHECKING:
    from collections.abc import Callable

    from slurm import Slurm

    from footplate.domain.names import TrainingJobName

JOBS = 300
COUNTED_JOBS = 100
ROUNDS = 3
PRINT = "print('hello', flush=True)"
PROGRAM = f"{PRINT}\n"
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


def bare_command() -> tuple[str, ...]:
    """Returns the command line of the jobs' program, in the environment that was made for it."""
    modules = (CACHE / "layers").glob("*/lib/python*/site-packages/trainer/task.py")
    [layer] = [path.parents[4] for path in modules if path.read_text() == PROGRAM]
    return str(layer / "bin" / "python"), "-m", "trainer.task"


def through_slurm(peer: Slurm, command: tuple[str, ...], jobs: int) -> float:
    started = time.perf_counter()
    outputs = [peer.submit(*command) for _ in range(jobs)]
    while peer.busy():
        time.sleep(POLL_S)
    spent = time.perf_counter() - started
    assert all(path.read_text() == "hello\n" for path in outputs)
    return spent


def bare(command: tuple[str, ...], jobs: int) -> float:
    def run(_: int) -> None:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

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


def compare(*, with_slurm: bool) -> None:
    print(
        "| round | packed | CPU | footplate | CPU | server | slurm | CPU | ratio "
        "| bare | CPU | ratio of CPU |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    peers = slurm() if with_slurm else nullcontext()
    with account() as burnt, service() as (running, client), peers as peer:
        pack = partial(submit, client, PROGRAM)
        send = partial(create, client, upload(client, PROGRAM))
        through_footplate(client, send, 1)
        command = bare_command()
        for number in range(1, ROUNDS + 1):
            packed, burnt_by_packs = measure(burnt, partial(through_footplate, client, pack))
            before = cpu_s(running.pid)
            ours, burnt_by_us = measure(burnt, partial(through_footplate, client, send))
            server = (cpu_s(running.pid) - before) / JOBS * 1000
            theirs, burnt_by_them = (float("nan"),) * 2
            if peer is not None:
                theirs, burnt_by_them = measure(burnt, partial(through_slurm, peer, command))
            floor, burnt_bare = measure(burnt, partial(bare, command))
            print(
                f"| {number} | {packed:.1f}/s | {burnt_by_packs:.0f} ms "
                f"| {ours:.1f}/s | {burnt_by_us:.0f} ms | {server:.0f} ms "
                f"| {theirs:.1f}/s | {burnt_by_them:.0f} ms | {ours / theirs:.2f} "
                f"| {floor:.0f}/s | {burnt_bare:.0f} ms | {burnt_by_us / burnt_bare:.1f} |",
                flush=True,
            )


class CountedProcess(subprocess.Popen[bytes]):
    """The server, which counts its transactions."""

    def __init__(self, command: tuple[str, ...], **options: object) -> None:
        program = str(Path(__file__).with_name("transactions.py"))
        super().__init__((sys.executable, program, *command[3:]), **options)  # type: ignore[call-overload]  # as given


class CountedService(RunningService):
    process_class = CountedProcess


def count_calls() -> None:
    """Prints HTTP calls by route, and transactions by kind, for each job."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "counts.json"
        os.environ[COUNTS] = str(file)
        running = CountedService(Path(folder) / "data", CACHE)
        running.start()
        try:
            with Service(running.url) as client:
                client.storage.create_bucket("bench", BUCKET)
                send = partial(create, client, upload(client, PROGRAM))
                through_footplate(client, send, 10)
                time.sleep(CLEARING_S)
                before = _calls(running.url) + _transactions(running.pid, file)
                names = [send() for _ in range(COUNTED_JOBS)]
                while client.training_jobs.get(names[-1]).state is not State.SUCCEEDED:
                    time.sleep(1.0)  # questions for the state count, too
                time.sleep(CLEARING_S)
                after = _calls(running.url) + _transactions(running.pid, file)
        finally:
            running.down()
    print("| for each job | |")
    print("|---|---|")
    for name, number in sorted((after - before).items()):
        print(f"| {name} | {number / COUNTED_JOBS:.1f} |")


def _calls(url: str) -> Counter[str]:
    found: Counter[str] = Counter()
    with urlopen(f"{url}/metrics") as answer:  # noqa: S310  it is a service of our own
        text = answer.read().decode()
    for labels, number in re.findall(r"^footplate_requests_total\{(.*)\} (\S+)$", text, re.M):
        named = dict(re.findall(r'(\w+)="([^"]*)"', labels))
        found[f"{named['verb']} `{named['route']}`"] += int(float(number))
    return found


def _transactions(pid: int, file: Path) -> Counter[str]:
    file.unlink(missing_ok=True)
    os.kill(pid, signal.SIGUSR1)
    while not file.exists():
        time.sleep(POLL_S)
    counts = json.loads(file.read_text())
    return Counter({f"transactions, {kind}": number for kind, number in counts.items()})


def main() -> None:
    if "--calls" in sys.argv:
        count_calls()
    else:
        compare(with_slurm="--without-slurm" not in sys.argv)


if __name__ == "__main__":
    main()
