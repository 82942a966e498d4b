"""Reducer processes, and workers as threads of the test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty, Queue
from typing import TYPE_CHECKING, TypeVar

from footplate_reduction.client import Client, connect
from tests.support.forked_process import ForkedProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from footplate_reduction.limits import Limits

JOB = "job-7"
TOKEN = "a token of this test only"
SETTINGS = {"FOOTPLATE_REDUCTION_JOB": JOB, "FOOTPLATE_REDUCTION_TOKEN": TOKEN}
LONG_S = 60.0
"""Nothing waits for so long unless it is broken."""

Result = TypeVar("Result")


class Spoken:
    """A process whose lines can be waited for."""

    def __init__(self, *command: str) -> None:
        self.lines: list[str] = []
        self._coming: Queue[str] = Queue()
        self.process: ForkedProcess[str] = ForkedProcess(
            command,
            env={**os.environ, **SETTINGS},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def await_line(self, part: str = "") -> str:
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

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def end(self) -> None:
        """By itself: it is told nothing more."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.await_end()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._reader.join(LONG_S)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()

    def _read(self) -> None:
        if self.process.stdout is not None:
            for line in self.process.stdout:
                self._coming.put(line.rstrip("\n"))


class ReducerProcess(Spoken):
    """``under``: a command that starts it somewhere, before its own."""

    def __init__(
        self,
        *arguments: str,
        under: Sequence[str] = (),
        host: str = "127.0.0.1",
        python: str = sys.executable,
    ) -> None:
        command = [python, "-m", "footplate_reduction", "reducer", "--host", host]
        super().__init__(*under, *command, "--port", "0", *arguments)
        self.address = self.await_line("listening on ").split()[2].rstrip(",")


class WorkerProcess(Spoken):
    """One worker, as ``reduction/tests/worker.py`` is told to be."""

    def __init__(
        self, options: dict[str, object], under: Sequence[str] = (), python: str = sys.executable
    ) -> None:
        script = str(Path(__file__).with_name("worker.py"))
        super().__init__(*under, python, script, json.dumps(options))

    def tell(self, command: str) -> None:
        if self.process.stdin is not None:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()

    def answer(self) -> dict[str, object]:
        return dict(json.loads(self.await_line()))

    def expect(self, command: str) -> None:
        """Tells it, and waits until it is done."""
        self.tell(command)
        assert self.answer().get("said") == command

    def loss(self) -> tuple[str, object]:
        """The sentence and the culprit that a command told before ends with."""
        answer = self.answer()
        assert "error" in answer, answer
        return str(answer["error"]), answer["culprit"]


class ReducerProcesses:
    """Started as tests ask for them, and killed with them."""

    def __init__(self) -> None:
        self._all: list[Spoken] = []

    def __enter__(self) -> ReducerProcesses:
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._all:
            each.close()

    def start(
        self, count: int = 1, *arguments: str, python: str = sys.executable
    ) -> list[ReducerProcess]:
        started = [ReducerProcess(*arguments, python=python) for _ in range(count)]
        self._all += started
        return started

    def workers(
        self,
        world: int,
        reducers: Sequence[ReducerProcess],
        *,
        group: str = "0",
        pythons: Sequence[str] = (sys.executable,),
        **limits: float,
    ) -> list[WorkerProcess]:
        """Joined. ``pythons`` run them in turn."""
        options = {
            "reducers": [each.address for each in reducers],
            "world": world,
            "group": group,
            "limits": {"timeout_s": LONG_S, "patience_s": LONG_S, **limits},
        }
        started = [
            WorkerProcess({**options, "rank": rank}, python=pythons[rank % len(pythons)])
            for rank in range(world)
        ]
        self._all += started
        for worker in started:
            assert worker.answer() == {"said": "ready"}
        for worker in started:
            worker.tell("join")
        for worker in started:
            assert worker.answer().get("said") == "join"
        return started


def as_workers(
    world: int,
    reducers: Sequence[str],
    act: Callable[[Client], Result],
    *,
    group: str = "0",
    limits: Limits | None = None,
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
        ) as client:
            return act(client)

    with ThreadPoolExecutor(world) as pool:
        return list(pool.map(work, range(world), timeout=LONG_S))
