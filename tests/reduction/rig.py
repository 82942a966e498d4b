"""Reducer processes, and workers as threads of the test."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, Queue
from typing import TYPE_CHECKING, TypeVar

from footplate_reduction.client import Client, connect

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from footplate_reduction.limits import Limits

JOB = "job-7"
TOKEN = "a token of this test only"
SETTINGS = {"FOOTPLATE_REDUCTION_JOB": JOB, "FOOTPLATE_REDUCTION_TOKEN": TOKEN}
LONG_S = 60.0
"""Nothing waits for so long unless it is broken."""

Result = TypeVar("Result")


class ReducerProcess:
    """One reducer. Its lines can be waited for."""

    def __init__(self, *arguments: str, under: Sequence[str] = (), host: str = "127.0.0.1") -> None:
        self.lines: list[str] = []
        self._coming: Queue[str] = Queue()
        command = [sys.executable, "-m", "footplate_reduction", "reducer", "--host", host]
        self.process = subprocess.Popen(
            [*under, *command, "--port", "0", *arguments],
            env={**os.environ, **SETTINGS},
            stdout=subprocess.PIPE,
            text=True,
        )
        threading.Thread(target=self._read, daemon=True).start()
        self.address = self.await_line("listening on ").split()[2].rstrip(",")

    def await_line(self, part: str) -> str:
        while True:
            try:
                line = self._coming.get(timeout=LONG_S)
            except Empty:
                raise AssertionError(f"no line with {part!r} in {self.lines}") from None
            self.lines.append(line)
            if part in line:
                return line

    def await_end(self) -> int:
        return self.process.wait(LONG_S)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()

    def _read(self) -> None:
        if self.process.stdout is not None:
            for line in self.process.stdout:
                self._coming.put(line.rstrip("\n"))


class ReducerProcesses:
    """Started as tests ask for them, and killed with them."""

    def __init__(self) -> None:
        self._all: list[ReducerProcess] = []

    def __enter__(self) -> ReducerProcesses:
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._all:
            each.close()

    def start(self, count: int = 1, *arguments: str) -> list[ReducerProcess]:
        started = [ReducerProcess(*arguments) for _ in range(count)]
        self._all += started
        return started


def as_workers(
    world: int,
    reducers: Sequence[str],
    act: Callable[[Client], Result],
    *,
    group: str = "0",
    limits: Limits | None = None,
    engine: str | None = None,
) -> list[Result]:
    """What ``act`` returns as each worker, in the order of ranks; the first error is raised."""

    def work(rank: int) -> Result:
        with connect(
            reducers,
            rank=rank,
            world=world,
            job=JOB,
            token=TOKEN,
            group=group,
            limits=limits,
            engine=engine,
        ) as client:
            return act(client)

    with ThreadPoolExecutor(world) as pool:
        return list(pool.map(work, range(world), timeout=LONG_S))
