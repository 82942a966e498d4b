"""Samples usage while the program runs: the program, its idle time, its reduction server."""

from __future__ import annotations

import json
import os
import signal
import time

from footplate.protocol.reports import GpuSample, UsageSample
from footplate.replica.isolation.procfs import find, is_alive
from footplate.replica.isolation.spawn import Launch, SpawnFailed, execute, spawn
from footplate.replica.phase import NEVER
from footplate.replica.program_output import Stream
from footplate.replica.usage.meter import Meter
from footplate.safe_path import NotRegular, open_regular, scan

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Callable, Iterator, Mapping, Sequence

    from footplate.protocol.task import Task
    from footplate.replica.context import Context
    from footplate.replica.isolation.procfs import Process


MOST_ENTRIES = 5000
"""So many files and directories are looked at, at most, before files count as not written."""


class IdleTracker:
    """The clock of how long a program has been idle. ``places`` are the directories with its files,
    checked once it has been idle for ``look_s``. ``metrics`` is the file of cloudml-hypertune.
    """

    def __init__(
        self,
        metrics: str,
        places: Sequence[str],
        look_s: float,
        monotonic: Callable[[], float],
        wall: Callable[[], float],
    ) -> None:
        self._metrics = metrics
        self._places = places
        self._look_s = look_s
        self._monotonic = monotonic
        self._wall = wall
        self._last = monotonic()
        """When it last gave a sign."""
        self._reported = _stamp(metrics)

    def end(self) -> None:
        """Ends the idle time: the program has just shown activity."""
        self._last = self._monotonic()

    def seconds(self) -> float:
        reported = _stamp(self._metrics)
        if reported != self._reported:
            self._reported = reported
            self.end()
        silent_s = self._monotonic() - self._last
        if self._look_s > 0 and silent_s >= self._look_s:
            silent_s = min(silent_s, self._since_written(silent_s))
            self._last = self._monotonic() - silent_s
        return max(0.0, silent_s)

    def _since_written(self, silent_s: float) -> float:
        """Returns the seconds since the latest write, if that is less than ``silent_s``; else
        ``silent_s``.
        """
        now = self._wall()
        newest = now - silent_s
        for stamp in find_stamps(self._places, MOST_ENTRIES):
            if newest < stamp <= now:
                newest = stamp
        return now - newest


def find_stamps(places: Sequence[str], most: int) -> Iterator[float]:
    """Yields the time of the last change of each file or directory below. Links aren't followed."""
    left = list(places)
    while left:
        place = left.pop()
        for entry in _scan(place):
            if not most:
                return
            most -= 1
            try:
                status = entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    left.append(os.path.join(place, entry.name))
            except OSError:  # it is looked at again
                continue
            yield max(status.st_mtime, status.st_ctime)


def _scan(directory: str) -> Iterator[os.DirEntry[str]]:
    try:
        yield from scan(directory)
    except OSError:  # it is looked at again
        return


def _stamp(path: str) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except OSError:  # it is looked at again
        return 0, 0
    return status.st_mtime_ns, status.st_size


_MODULE = "footplate_reduction"
_VARIABLE = "FOOTPLATE_REDUCTION_STATS"
_MOST_BYTES = 4096
_HIGHEST = 1e15


def find_reducer_stats(task: Task, work: str) -> str:
    """Returns the path of the statistics of a reduction server; '' if the program is none. ``work``
    is its directory.
    """
    if task.module != _MODULE:
        return ""
    name = os.path.basename(task.variables.get(_VARIABLE, ""))
    return os.path.join(work, name) if name else ""


def read_reducer_stats(path: str, sample: UsageSample) -> None:
    """Adds the reduction server's figures, which only grow; nothing if the file isn't there yet, or
    isn't valid.

    Its writer is a program like any other: it isn't waited for, nor is the file trusted.
    """
    try:
        statistics = json.loads(_read(path))
    except NotRegular:
        return
    except FileNotFoundError:
        sample.reduced_bytes, sample.awaited_s = 0, 0.0
        return
    except (OSError, ValueError, RecursionError):  # a figure is missing
        return
    if isinstance(statistics, dict):
        received = _check_amount(statistics.get("received_bytes"))
        sample.reduced_bytes = None if received is None else int(received)
        sample.awaited_s = _check_amount(statistics.get("waiting_s"))


def _check_amount(value: object) -> float | None:
    if isinstance(value, (int, float)) and 0 <= value <= _HIGHEST:  # false for NaN
        return value
    return None


def _read(path: str) -> bytes:
    descriptor = open_regular(path)
    try:
        return os.read(descriptor, _MOST_BYTES)
    finally:
        os.close(descriptor)


MOST_FAILURES = 3
"""So often in a row nvidia-smi may give no answer before it isn't asked any more."""


class Sampler:
    """The sampler of a program's use. It writes samples into the journal, but none while that takes
    no output.

    ``output`` is what the program prints; each turn shows whether it has printed.
    """

    def __init__(self, context: Context, output: Sequence[Stream]) -> None:
        self._context = context
        self._output = output
        self._every_s = context.task.usage_s
        self._began = context.monotonic()
        self._due = self._began + self._every_s if self._every_s > 0 else NEVER
        self._read_bytes = 0
        self._gpus = list_gpus(context.task) if self._every_s > 0 else []
        self._failures = 0
        self._query: Query | None = None
        self._waiting: UsageSample | None = None
        """A sample that waits for what the GPUs do."""
        places = [*filter(None, [context.workdir]), *context.directories]
        self._silence = IdleTracker(
            context.home.metrics,
            places,
            context.task.hang_s,
            context.monotonic,
            time.time,
        )
        self._meter = self._make_meter()
        self._reducer = find_reducer_stats(context.task, context.home.work)
        self.peak_bytes = 0
        """The most memory that was seen in use."""

    def _make_meter(self) -> Meter | None:
        context = self._context
        if self._every_s <= 0 or context.containment is None or context.child is None:
            return None
        return Meter(context.containment, context.child, first=context.started == 1)

    @property
    def streams(self) -> tuple[Stream, ...]:
        return () if self._query is None else (self._query.stream,)

    def deadline(self) -> float:
        return self._due if self._waiting is None or self._query is None else self._query.until

    def advance(self) -> None:
        if self._meter is None:
            return
        now = self._context.monotonic()
        self._listen()
        if self._query is not None:
            self._ask_on(self._query, now)
        if self._waiting is None and now >= self._due:
            self._due = now + self._every_s
            self._take(self._meter, now)

    def close(self) -> None:
        """Writes the last sample, with the total use, after the program's end."""
        if self._meter is None:
            return
        if self._query is not None:
            self._query.close()
        self._listen()
        if self._waiting is None:
            self._waiting = self._sample(self._meter)
            self._waiting.memory_bytes = None
        self._notify()

    def _listen(self) -> None:
        read_bytes = sum(stream.read_bytes for stream in self._output)
        # While the journal takes no output, the pipes aren't read: a program that is held back
        # isn't idle.
        if read_bytes != self._read_bytes or not self._context.journal.accepts():
            self._read_bytes = read_bytes
            self._silence.end()

    def _take(self, meter: Meter, now: float) -> None:
        self._waiting = self._sample(meter)
        if not self._gpus or self._query is not None:
            self._notify()
            return
        try:
            self._query = Query(self._gpus, self._context.host, now + TIMEOUT_S)
        except (OSError, SpawnFailed):  # as when it fails
            self._fail()
            self._notify()

    def _sample(self, meter: Meter) -> UsageSample:
        passed_s = self._context.monotonic() - self._began
        sample = UsageSample(round(passed_s, 3), round(self._silence.seconds(), 3))
        meter.read(sample)
        self.peak_bytes = max(self.peak_bytes, sample.memory_bytes or 0)
        if self._reducer:
            read_reducer_stats(self._reducer, sample)
        return sample

    def _ask_on(self, query: Query, now: float) -> None:
        """Continues the query; closes it when it has answered, or its time is over."""
        if query.stream.open and now < query.until:
            return
        query.close()
        found = query.answer()
        if self._waiting is not None:
            if found:
                self._waiting.gpus = found
                self._failures = 0
            else:
                self._fail()
            self._notify()
        if query.reap():
            self._query = None

    def _fail(self) -> None:
        self._failures += 1
        if self._failures >= MOST_FAILURES:
            self._gpus = []

    def _notify(self) -> None:
        sample, self._waiting = self._waiting, None
        if sample is not None and self._context.journal.accepts():
            self._context.journal.usage(sample)


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
    """A running query to nvidia-smi; ``stream`` is to be read until it is closed."""

    def __init__(self, gpus: Sequence[str], host: Mapping[str, str], until: float) -> None:
        """Starts nvidia-smi. Raises OSError, SpawnFailed."""
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
        """Ends the query, if it still runs."""
        self.stream.close()
        if self._process is not None and is_alive(self._process):
            os.kill(self._process.pid, signal.SIGKILL)

    def reap(self) -> bool:
        """Reaps the process; returns whether it has ended."""
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
    """Returns the sample in a line such as ``0, 97, 1523``: number, percent, MiB. Some cards leave
    out figures.
    """
    words = [word.strip() for word in line.split(",")]
    if len(words) != 3 or not words[0].isdigit():
        return None
    gpu = GpuSample(words[0])
    if words[1].isdigit():
        gpu.percent = int(words[1])
    if words[2].isdigit():
        gpu.memory_bytes = int(words[2]) * _MIB
    return gpu
