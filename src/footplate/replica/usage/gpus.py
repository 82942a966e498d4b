"""GPU usage from nvidia-smi."""

from __future__ import annotations

import os
import signal

from footplate.protocol.reports import GpuSample
from footplate.replica.isolation.procfs import find, is_alive
from footplate.replica.isolation.spawn import Launch, SpawnFailed, execute, spawn
from footplate.replica.program_output import Stream

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Mapping, Sequence

    from footplate.protocol.task import Task
    from footplate.replica.isolation.procfs import Process

TIMEOUT_S = 5.0
_QUERY = "--query-gpu=index,utilization.gpu,memory.used"
_MOST_LINES = 256
_MIB = 1 << 20
VISIBLE = "CUDA_VISIBLE_DEVICES"


def list_gpus(task: Task) -> list[str]:
    """Returns the numbers of the real GPUs that the program was given."""
    words = task.variables.get(VISIBLE, "").split(",") if task.gpus else ()
    return [word for word in words if word and word.replace("-", "").isalnum()]


class Query:
    """A question to nvidia-smi; ``stream`` is to be read until it isn't open any more."""

    def __init__(self, gpus: Sequence[str], host: Mapping[str, str], until: float) -> None:
        """Raises OSError, SpawnFailed."""
        self.until = until
        """When it is given up."""
        self._lines: list[str] = []
        self.stream = Stream(self._take)
        argv = ["nvidia-smi", "-i", ",".join(gpus), _QUERY, "--format=csv,noheader,nounits"]
        environment = {"PATH": host.get("PATH", os.defpath), "LC_ALL": "C"}
        try:
            self._process = _start(argv, environment, self.stream.writing)
        except (OSError, SpawnFailed):
            self.stream.close()
            raise
        finally:
            self.stream.hand_over()

    def _take(self, lines: list[str]) -> None:
        self._lines = (self._lines + lines)[:_MOST_LINES]

    def close(self) -> None:
        """Ends it, if it still goes on."""
        self.stream.close()
        if self._process is not None and is_alive(self._process):
            os.kill(self._process.pid, signal.SIGKILL)

    def reap(self) -> bool:
        """Returns whether the process is gone for good."""
        try:
            return self._process is None or os.waitpid(self._process.pid, os.WNOHANG)[0] != 0
        except ChildProcessError:  # on the containment mode subreaper the containment may be faster
            return True

    def answer(self) -> tuple[GpuSample, ...]:
        return tuple(gpu for gpu in map(parse, self._lines) if gpu is not None)


def _start(argv: list[str], environment: dict[str, str], writing: int) -> Process | None:
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        launch = Launch(argv, environment, "/", writing, null)
        return find(spawn(lambda _: execute(launch)))
    finally:
        os.close(null)


def parse(line: str) -> GpuSample | None:
    """Reads a line such as ``0, 97, 1523``: number, percent, MiB. Some cards say less."""
    words = [word.strip() for word in line.split(",")]
    if len(words) != 3 or not words[0].isdigit():
        return None
    gpu = GpuSample(words[0])
    if words[1].isdigit():
        gpu.percent = int(words[1])
    if words[2].isdigit():
        gpu.memory_bytes = int(words[2]) * _MIB
    return gpu
