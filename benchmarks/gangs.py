"""Jobs of several replicas: how fast they start, what they weigh, how many lines get through.

The peer of a start is a plain script that starts as many bare processes together. That of lines
is ``cat``: the same programs, each with a pipe to one that writes a file. Lines are not followed
but read when all is over, so that no reader is measured: each says when it was due, and the
service when it came.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import processes
from desk import BUCKET, service, submit

from footplate.domain.job_states import State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from footplate.client.service import Service
    from footplate.domain.names import TrainingJobName
    from footplate.testing.service import RunningService

ROUNDS = {1: 5, 4: 5, 16: 3, 31: 3}
"""How often a gang of each size is started."""
LARGEST = max(ROUNDS)
RATES = (100, 300, 600, 1000, 2000)
"""Lines a second of each replica."""
PRINT_S = 4.0
LAG_S = 1.0
"""A rate whose last lines come later than that can't go on."""
QUIET_S = 1.0
"""Nothing comes for so long: all lines have come."""
TIMEOUT_S = 120.0
MACHINE = "n1-standard-4"

HELLO = "print('hello', flush=True)\n"
WAITING = f"""{HELLO}
import pathlib, sys, time
while not pathlib.Path(sys.argv[1], "end").exists():
    time.sleep(0.1)
"""
PRINTING = """
import pathlib, sys, time
folder, rate, count = pathlib.Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
(folder / f"{time.monotonic_ns()}.ready").touch()
while not (folder / "go").exists():
    time.sleep(0.02)
start = time.time()
for number in range(count):
    due = start + number / rate
    if due > time.time():
        time.sleep(0.01)
    print(number, due, "of a program that prints at its pace, epoch 3, loss 0.123")
(folder / f"{time.monotonic_ns()}.done").touch()
while not (folder / "end").exists():
    time.sleep(0.1)
"""


class Began(NamedTuple):
    """Seconds from the submit of a gang to the first line of all, and to what comes before."""

    lines_s: float
    admitted_s: float
    supervised_s: float
    """The last supervisor has its task, and its isolation."""
    running_s: float
    """The last program is started."""


@dataclass(frozen=True)
class Poured:
    """``lags_s`` are in the order in which the lines were due; CPU is that of the whole time."""

    lags_s: list[float]
    kept_s: float
    """From when the first line was due until the last one was kept."""
    server_s: float
    supervisors_s: float
    programs_s: float


class Gangs:
    """Starts gangs at a service, one after the other, and ends them."""

    def __init__(self, running: RunningService, client: Service) -> None:
        self.running = running
        self.client = client
        self.folder = running.data_dir / "buckets" / BUCKET / "gang"

    @contextmanager
    def submitted(self, size: int, source: str, *args: str) -> Iterator[TrainingJobName]:
        """In the block it runs; after that it is over, and nothing of it is left."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        name = submit(self.client, source, args=[str(self.folder), *args], **shape(size))
        yield name
        self.touch("end")
        wait_until(lambda: self.client.job(name).state.terminal)
        wait_until(lambda: not processes.supervisors(self.running.data_dir))

    def touch(self, name: str) -> None:
        (self.folder / name).touch()

    def count(self, kind: str) -> int:
        return len(list(self.folder.glob(f"*.{kind}")))

    def log(self) -> Path:
        """The file with the lines of the job that printed last."""
        files = (self.running.data_dir / "logs").iterdir()
        return max(files, key=lambda file: file.stat().st_mtime)


def shape(size: int) -> dict[str, object]:
    if size == LARGEST:
        return {"scaleTier": "PREMIUM_1"}  # a master, 19 workers and 11 parameter servers
    if size == 1:
        return {}
    custom = {"scaleTier": "CUSTOM", "masterType": MACHINE, "workerType": MACHINE}
    return {**custom, "workerCount": str(size - 1)}


def start(gangs: Gangs, size: int, look: Callable[[], None] = lambda: None) -> Began:
    began, clock = time.perf_counter(), time.time()
    with gangs.submitted(size, WAITING) as name:
        missing = size
        for _ in gangs.client.logs(name, follow=True):
            missing -= 1
            if not missing:
                break
        lines_s = time.perf_counter() - began
        look()
        wait_until(lambda: gangs.client.job(name).state is State.RUNNING)
        events = list(gangs.client.events(name))

    def last(kind: str, *, of_job: bool) -> float:
        times = [e.time for e in events if e.kind == kind and of_job is not bool(e.replica)]
        return datetime.fromisoformat(times[-1]).timestamp() - clock

    return Began(
        lines_s,
        last("PREPARING", of_job=True),
        last("ISOLATION", of_job=False),
        last("RUNNING", of_job=True),
    )


def start_bare(size: int) -> float:
    """Seconds until a plain script has the first line of each of as many bare processes."""
    began = time.perf_counter()
    command = [sys.executable, "-c", HELLO]
    bare = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(size)]
    for process in bare:
        assert process.stdout is not None
        assert process.stdout.readline()
    took_s = time.perf_counter() - began
    for process in bare:
        process.communicate()
    return took_s


def wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not true():
        assert time.monotonic() < deadline, "this takes too long"
        time.sleep(0.02)


def pour(gangs: Gangs, size: int, rate: int) -> Poured:
    """All replicas print at ``rate`` lines a second, each for as long as ``PRINT_S`` says."""
    count = int(rate * PRINT_S)
    with gangs.submitted(size, PRINTING, str(rate), str(count)) as name:
        wait_until(lambda: gangs.count("ready") == size)
        before = burnt(gangs)
        gangs.touch("go")
        wait_until(lambda: gangs.count("done") == size)
        wait_until(lambda: time.time() - gangs.log().stat().st_mtime > QUIET_S)
        after = burnt(gangs)
    times = read(gangs, name, size, count)
    kept_s = max(kept for _, kept in times) - times[0][0]
    lags_s = [kept - due for due, kept in times]
    return Poured(lags_s, kept_s, *(b - a for a, b in zip(before, after, strict=True)))


def pour_bare(size: int, rate: int) -> float:
    """CPU seconds of the same programs and of ``cat`` for each, until all lines are in files."""
    count = int(rate * PRINT_S)
    with tempfile.TemporaryDirectory() as name, ExitStack() as started:
        folder = Path(name)
        pids = []
        for number in range(size):
            for process in print_into(folder / f"{number}.txt", rate, count):
                started.callback(process.wait)
                started.callback(process.kill)
                pids.append(process.pid)
        wait_until(lambda: len(list(folder.glob("*.ready"))) == size)
        before_s = processes.cpu_s(*pids)
        (folder / "go").touch()
        wait_until(lambda: len(list(folder.glob("*.done"))) == size)
        wait_until(lambda: all(lines_in(file) == count for file in folder.glob("*.txt")))
        return processes.cpu_s(*pids) - before_s


def print_into(file: Path, rate: int, count: int) -> tuple[subprocess.Popen[bytes], ...]:
    """A program as the service would start it, and the ``cat`` that it prints to."""
    command = [sys.executable, "-c", PRINTING, str(file.parent), str(rate), str(count)]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    program = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
    with file.open("wb") as kept:
        cat = subprocess.Popen(["cat"], stdin=program.stdout, stdout=kept)
    assert program.stdout is not None
    program.stdout.close()
    return program, cat


def lines_in(file: Path) -> int:
    return file.read_bytes().count(b"\n")


def burnt(gangs: Gangs) -> tuple[float, float, float]:
    """CPU seconds of the server, of the supervisors, and of the programs that live."""
    return (
        processes.cpu_s(gangs.running.pid),
        processes.cpu_s(*processes.supervisors(gangs.running.data_dir)),
        processes.cpu_s(*processes.programs("trainer.task")),
    )


def read(gangs: Gangs, name: TrainingJobName, size: int, count: int) -> list[tuple[float, float]]:
    """When each line was due and when it was kept; none is missing, doubled, or out of order."""
    seen: Counter[str] = Counter()
    times = []
    for line in gangs.client.logs(name):
        number, due, _ = line.message.split(" ", 2)
        assert int(number) == seen[line.replica], f"{line}, {seen[line.replica]} expected"
        seen[line.replica] += 1
        times.append((float(due), datetime.fromisoformat(line.timestamp).timestamp()))
    assert list(seen.values()) == [count] * size, f"lines are missing: {seen}"
    return sorted(times)


def show_starts(gangs: Gangs) -> None:
    print(
        f"{'replicas':>8} {'all lines':>10} {'bare':>10} {'ratio':>6}  admitted supervised running"
    )
    for size, rounds in ROUNDS.items():
        begun, bare = [], []
        for _ in range(rounds):
            begun.append(start(gangs, size))
            bare.append(start_bare(size))
        ratio = statistics.median(a.lines_s / b for a, b in zip(begun, bare, strict=True))
        lines, *phases = (statistics.median(times) for times in zip(*begun, strict=True))
        print(
            f"{size:8} {lines * 1000:7.0f} ms {statistics.median(bare) * 1000:7.0f} ms {ratio:6.1f}"
            f"  {' '.join(f'{phase * 1000:6.0f} ms' for phase in phases)}",
            flush=True,
        )


def show_weights(gangs: Gangs) -> None:
    """Of supervisors whose programs run and say nothing."""
    for size in (2, LARGEST):
        weights: list[processes.Weight] = []

        def look(found: list[processes.Weight] = weights) -> None:
            pids = processes.supervisors(gangs.running.data_dir)
            found.extend(processes.weight(pid) for pid in pids)

        start(gangs, size, look)
        rss, pss = zip(*((each.rss, each.pss) for each in weights), strict=True)
        print(f"{len(weights)} supervisors: RSS at most {max(rss) / 1000:.1f} MB", end=", ")
        print(f"PSS {statistics.mean(pss) / 1000:.1f} MB each")


def show_lines(gangs: Gangs) -> None:
    """The lag at the end is that of the last tenth: what grows with time shows there."""
    print(
        f"{'each':>8} {'printed/s':>9} {'kept/s':>9} {'lag':>9} {'at the end':>11}  CPU/s: server,",
        end="",
    )
    print(" supervisors, programs; server's for each line; all of it; with cat; ratio")
    steady = 0
    for rate in RATES:
        bare_us = pour_bare(LARGEST, rate) / int(rate * PRINT_S) / LARGEST * 1e6
        poured = pour(gangs, LARGEST, rate)
        lines = len(poured.lags_s)
        last = poured.lags_s[-lines // 10 :]
        cpus = (poured.server_s, poured.supervisors_s, poured.programs_s)
        lag_s, last_lag_s = statistics.median(poured.lags_s), statistics.median(last)
        print(
            f"{rate:6}/s {rate * LARGEST:9} {lines / poured.kept_s:9.0f}"
            f" {lag_s * 1000:6.0f} ms {last_lag_s * 1000:8.0f} ms"
            f"  {' '.join(f'{cpu / poured.kept_s:.2f}' for cpu in cpus)}"
            f"  {poured.server_s / lines * 1e6:.0f} us"
            f"  {sum(cpus) / lines * 1e6:.0f} us {bare_us:.0f} us"
            f" {sum(cpus) / lines * 1e6 / bare_us:.1f}",
            flush=True,
        )
        steady = rate if last_lag_s < LAG_S else steady
    print(f"lines aren't late up to {steady}/s of each, {steady * LARGEST} together")


def main() -> None:
    load = os.getloadavg()[0]
    with service(max_replicas=LARGEST) as (running, client):
        gangs = Gangs(running, client)
        start(gangs, 1)  # builds the environment
        show_starts(gangs)
        show_weights(gangs)
        show_lines(gangs)
    print(f"load {load:.1f} before, {os.getloadavg()[0]:.1f} after")


if __name__ == "__main__":
    main()
