"""The phases of the program itself: running, then draining its output."""

from __future__ import annotations

import os

from footplate.replica import process_limit
from footplate.replica.bucket_phases import after_saving
from footplate.replica.disk_limit import DiskLimit
from footplate.replica.failure_advice import find_advice
from footplate.replica.failure_cause import CauseFinder, is_bar
from footplate.replica.oom_detection import Finding, OomWatch, join
from footplate.replica.phase import NEVER, Phase
from footplate.replica.program_output import Progress, Stream
from footplate.replica.usage.sampler import Sampler

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Callable, Iterable, Sequence

    from footplate.replica.context import Context
    from footplate.replica.isolation.resource_limits import Limits
    from footplate.replica.metrics.watcher import Watch

KILL_AGAIN_S = 5.0
QUIET_S = 2.0
"""A stream that nobody should hold any more is given up when it says nothing for so long."""
LONGEST_DRAIN_S = 30.0
_SIGNALS = 65
"""One more than the highest signal of Linux."""
_READS_OF_A_PIPE = 5
"""A full pipe holds 64 KiB, which a stream reads in pieces of 16 KiB; one more finds the end."""


class Errors(Stream):
    """The stream of stderr, watched for the cause of a failure."""

    def __init__(self, context: Context) -> None:
        self.finder = CauseFinder(context.task.module.partition(".")[0])
        super().__init__(lambda lines: self._report(context, lines), context.monotonic)

    def _report(self, context: Context, lines: list[str]) -> None:
        for line in lines:
            if not (isinstance(line, Progress) and is_bar(line)):
                self.finder.see(line)
        context.journal.lines("stderr", lines)


class Running(Phase):
    """The phase until the program ends, or is ended: by ``stop`` or at its time limit.

    It gets SIGTERM and a grace period, then everything it started is killed with it.
    """

    def __init__(self, context: Context, streams: tuple[Stream, Errors]) -> None:
        super().__init__(context)
        self.streams: tuple[Stream, ...] = streams
        self._output = streams
        limit_s = context.task.time_limit_s
        self._limit_s = NEVER if limit_s is None else limit_s
        self._limit_at = context.monotonic() + self._limit_s
        self._kill_at = NEVER
        self._ended_by: tuple[str, str] | None = None
        self._watch = OomWatch(context)
        self._sampler = Sampler(context, streams)
        self._disk = watch_disk(context, context.own_files)
        self._metrics = _watch_metrics(context)
        context.report_client.unhurried = True
        context.report_client.wait_for_peers(context.monotonic())
        context.control_requests.open(context.monotonic())

    @staticmethod
    def connect(context: Context, start: Callable[[int, int], object]) -> tuple[Stream, Errors]:
        """Returns the output of a program that ``start`` gives to the two descriptors.

        Raises what ``start`` raises.
        """
        output = Stream(
            lambda lines: context.journal.lines("stdout", lines), monotonic=context.monotonic
        )
        errors = Errors(context)
        try:
            start(output.writing, errors.writing)
        except BaseException:
            output.close()
            errors.close()
            raise
        finally:
            output.hand_over()
            errors.hand_over()
        return output, errors

    def deadline(self) -> float:
        end_at = self._limit_at if self._ended_by is None else self._kill_at
        looked_at = NEVER if self._metrics is None else self._metrics.deadline()
        shown_at = min(stream.show_at for stream in self._output)
        if not self.context.journal.accepts():
            shown_at = NEVER  # as what is read
        return min(end_at, self._sampler.deadline(), self._disk.deadline(), looked_at, shown_at)

    def advance(self) -> Phase:
        now = self.context.monotonic()
        child = self.context.child
        if child is not None and child.has_ended():
            return self._conclude()
        if self._ended_by is None and now >= self._limit_at:
            self._end("TIME_LIMIT", self._describe_limit())
        if self.context.journal.accepts():
            for stream in self._output:
                stream.show(now)
        self._check_disk()
        if now >= self._kill_at:
            self._kill_at = now + KILL_AGAIN_S
            self.context.kill()
        self._sampler.advance()
        self.streams = (*self._output, *self._sampler.streams, *self._disk.streams)
        if self._metrics is not None:
            self._metrics.advance()
        return self

    def stop(self) -> Phase:
        if self._ended_by is None:
            self._end("STOPPED", "the supervisor was asked to end the program")
        return self

    def _describe_limit(self) -> str:
        """Returns a phrase on the time limit; a later start has the time that earlier ones left."""
        if self.context.task.attempt == 1 and not self.context.task.restart:
            return f"the program ran longer than its limit of {self._limit_s:g} s"
        return (
            f"the program ran longer than {round(self._limit_s, 1):g} s, which earlier starts left "
            "of its limit"
        )

    def _check_disk(self) -> None:
        """Kills the program at once if it is over its limit on disk space: it would write on."""
        self._disk.advance()
        if self._ended_by is None and self._disk.exceeded and self.context.wanted is not None:
            cause = describe_disk(self._disk.used_bytes, self.context.wanted)
            self._end("OUT_OF_DISK", cause, grace_s=0.0)

    def _end(self, kind: str, cause: str, grace_s: float | None = None) -> None:
        self._ended_by = kind, cause
        if grace_s is None:
            grace_s = self.context.task.stop_grace_s
        self._kill_at = self.context.monotonic() + grace_s
        if self.context.child is not None:
            self.context.child.terminate()

    def _conclude(self) -> Phase:
        self._sampler.close()
        self._disk.close()
        status = self.context.end_child() or 0
        if self.context.nested:
            status = _find_signal(status)
        if not self.context.clean:
            message = (
                "some processes that the program started can't be killed; the supervisor tries "
                "again"
            )
            self.context.journal.event("LEFTOVERS", message)
        fault = "" if self.context.containment is None else self.context.containment.fault
        end = End(status, self._ended_by, self._watch.judge(status), fault)
        end.refused = _count_refused(self.context)
        end.limits = self.context.process_limits
        self.context.peak_bytes = self._sampler.peak_bytes
        return Draining(self.context, self._output, end, self._metrics)


def _find_signal(status: int) -> int:
    """Returns the wait status of a program that ended by a signal, where ``status`` says so by an
    exit code above 128.
    """
    number = os.WEXITSTATUS(status) - 128 if os.WIFEXITED(status) else 0
    return number if 0 < number < _SIGNALS else status


def _watch_metrics(context: Context) -> Watch | None:
    """Returns a watch of metrics; None if nobody asks for any."""
    if not context.task.metrics:
        return None
    from footplate.replica.metrics.watcher import Watch  # only those that are asked pay for it

    return Watch(context)


def _report_lost_files(context: Context, *, succeeded: bool) -> None:
    """Reports the program's lost files; most programs have none. Never raises."""
    if not context.workdir or not os.path.lexists(os.path.join(context.workdir, "gs:")):
        return
    from footplate.replica import lost_files  # only those that have some pay for it

    lost_files.report(context, succeeded=succeeded)


def watch_disk(context: Context, paths: Sequence[str]) -> DiskLimit:
    """Returns a check of the disk space that the running child uses below ``paths``."""
    limit_bytes = 0 if context.wanted is None else context.wanted.disk_bytes
    containment, child = context.containment, context.child

    def find_pids() -> Iterable[int]:
        return () if containment is None or child is None else containment.family(child).pids

    return DiskLimit(paths, limit_bytes, find_pids, context.monotonic)


def _count_refused(context: Context) -> int | None:
    return None if context.containment is None else context.containment.refused_processes()


def describe_disk(used_bytes: int, limits: Limits) -> str:
    """Returns the amount used, rounded up, so that it never reads like the limit itself."""
    used = -(-used_bytes * 100 // (1 << 30)) / 100
    return f"the program used {used:g} GB of disk; its limit, bootDiskSizeGb, is {limits.disk}"


class End:
    """The way in which the program came to its end, before its last words are read."""

    def __init__(
        self, status: int, ended_by: tuple[str, str] | None, memory: Finding, fault: str = ""
    ) -> None:
        """Keeps how the program ended; ``fault`` says what ended it from outside, if known."""
        self._fault = fault
        self._status = status
        self._ended_by = ended_by
        self._memory = memory
        self.limits: Limits | None = None
        """The limits of processes, if there are any."""
        self.refused: int | None = None
        """How many processes it was refused, if known."""

    def judge(self, finder: CauseFinder) -> tuple[str, int, str]:
        """Returns kind, code and cause of the exit record."""
        if self._ended_by is not None:
            kind, cause = self._ended_by
            return kind, 0, cause
        if os.WIFSIGNALED(self._status):
            number = os.WTERMSIG(self._status)
            if self._memory.fatal:
                return "OUT_OF_MEMORY", number, self._memory.about
            if self._fault:
                return "SIGNALLED", number, self._fault
            about = self._memory.about or self._memory.otherwise
            return "SIGNALLED", number, join(finder.fault, about)
        code = os.WEXITSTATUS(self._status)
        if not code:
            return "EXITED", 0, ""
        refused = process_limit.describe(self.limits, self.refused, finder.cause)
        about = "; ".join(filter(None, [self._memory.about, refused]))
        return "EXITED", code, join(finder.cause, about)


class Draining(Phase):
    """The phase after the program's death: reads the rest of the pipes and of the metrics, however
    long delivery takes.

    A process that keeps a pipe open now isn't the program: it is waited for only a limited time.
    """

    def __init__(
        self, context: Context, streams: Sequence[Stream], end: End, metrics: Watch | None = None
    ) -> None:
        super().__init__(context)
        context.end()
        self.streams = streams
        self._end = end
        self._metrics = metrics
        now = context.monotonic()
        self._give_up_at = now + LONGEST_DRAIN_S
        self._read_bytes = 0
        self._quiet_at = now + QUIET_S

    def deadline(self) -> float:
        looked_at = NEVER if self._metrics is None else self._metrics.deadline()
        return min(self._silent_at(), looked_at)

    def advance(self) -> Phase:
        drained = self._drain()
        if self._metrics is not None:
            self._metrics.advance_last()
            if not self._metrics.concluded:
                return self
        return self._conclude() if drained else self

    def _silent_at(self) -> float:
        """Returns the time until which processes that hold the pipes open are waited for."""
        open_streams = any(stream.open for stream in self.streams)
        return min(self._quiet_at, self._give_up_at) if open_streams else NEVER

    def _drain(self) -> bool:
        """Reads the pipes; returns whether all has been read."""
        now, journal = self.context.monotonic(), self.context.journal
        self._read_left()
        still_open = [stream for stream in self.streams if stream.open]
        read_bytes = sum(stream.read_bytes for stream in self.streams)
        # While the journal takes no output, nothing is read: that doesn't make a pipe quiet.
        if read_bytes != self._read_bytes or not journal.accepts():
            self._quiet_at = now + QUIET_S
        if not journal.accepts():
            self._give_up_at = now + LONGEST_DRAIN_S
        self._read_bytes = read_bytes
        if still_open and now < self._silent_at():
            return False
        for stream in still_open:
            stream.close()
        if still_open:
            message = (
                "another process keeps the program's output open; the supervisor stops reading "
                "the output"
            )
            journal.event("LEFTOVERS", message)
        return True

    def _read_left(self) -> None:
        """Reads the rest of a full pipe, and its end: mostly that is all, and goes in one
        report.
        """
        for stream in self.streams:
            for _ in range(_READS_OF_A_PIPE):
                if not (stream.open and self.context.journal.accepts() and stream.read()):
                    break

    def _conclude(self) -> Phase:
        errors = self.streams[-1]
        finder = errors.finder if isinstance(errors, Errors) else CauseFinder()
        kind, code, cause = self._end.judge(finder)
        _report_lost_files(self.context, succeeded=(kind, code) == ("EXITED", 0))
        advice = find_advice(self.context, kind, code, cause)
        return after_saving(self.context, kind, code, finder.locate(cause), advice)

    def stop(self) -> Phase:
        return self
