"""The supervisor of one replica: a single thread around one poll."""

from __future__ import annotations

import math
import os
import select
import signal
import sys

from footplate.replica.phase import NEVER, Delivering
from footplate.replica.preparation_phases import Fetching

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Callable

    from footplate.replica.context import Context
    from footplate.replica.phase import Phase

_LONGEST_POLL_S = 3600.0
"""Deadlines may be ``NEVER``, which is infinite: poll takes no such number."""
LEAVE_S = 5.0
"""A supervisor that was sent SIGTERM waits so long for a server that doesn't answer."""


class Signals:
    """The signals to the supervisor: SIGTERM requests a stop; every signal wakes the poll."""

    def __init__(self) -> None:
        self.stop = False
        self._reading, writing = os.pipe()
        os.set_blocking(self._reading, False)
        os.set_blocking(writing, False)
        # Python continues a poll after a signal (PEP 475): only the byte in this pipe wakes it.
        # Python writes the byte for signals with a handler in Python: SIGCHLD has an empty one.
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._note)

    def fileno(self) -> int:
        return self._reading

    def clear(self) -> None:
        try:
            os.read(self._reading, 4096)
        except BlockingIOError:
            return

    def _note(self, *_: object) -> None:
        self.stop = True


class Supervisor:
    """The supervisor of one replica: it advances from phase to phase, until a phase returns
    None.
    """

    def __init__(self, context: Context, signals: Signals) -> None:
        self._context = context
        self._signals = signals
        self._phase: Phase = Fetching(context)
        self._leaving_since: float | None = None
        self._reasons: set[str] = set()

    def run(self) -> str | None:
        """Supervises to the end; returns how it ended.

        None means that SIGTERM came, and the server doesn't answer. The program has ended, and
        cleanup delivers the records in the spool.
        """
        while True:
            now = self._context.monotonic()
            self._context.journal.retry(now)
            if self._context.report_client.refused:
                return self._abandon()
            if self._signals.stop or self._context.report_client.stop_wanted:
                self._phase = self._phase.stop()
            following = self._phase.advance()
            if following is None:
                return getattr(self._phase, "outcome", "")
            entered, self._phase = following is not self._phase, following
            if entered:  # what it has to tell at once goes with what the last one told
                continue
            if now >= self._leave_at() and self._may_leave():
                return None
            self._context.report_client.tick(now)
            self._context.control_requests.tick(now)
            self._wait(now)

    def _leave_at(self) -> float:
        """Returns the time at which to give up on the server."""
        if not self._signals.stop or not isinstance(self._phase, Delivering):
            return NEVER
        if self._leaving_since is None:
            self._leaving_since = self._context.monotonic()
            self._context.report_client.retry_soon()
        return max(self._leaving_since, self._context.report_client.answered_at) + LEAVE_S

    def _may_leave(self) -> bool:
        if not self._context.clean:
            return self._stay("some processes that the program started can't be killed")
        if self._context.journal.held:
            return self._stay("the disk is full, and the last output isn't stored yet")
        waiting = "the server doesn't answer, and the last output stays on disk"
        print(f"Signal to stop received: {waiting} for the next server", file=sys.stderr)
        return True

    def _stay(self, reason: str) -> bool:
        if reason not in self._reasons:
            self._reasons.add(reason)
            print(
                f"Signal to stop received, but the supervisor keeps running: {reason}",
                file=sys.stderr,
            )
        return False

    def _abandon(self) -> str:
        """Ends an attempt that is over for the server: no more reports are needed."""
        self._context.end_child()
        while not self._context.clean:
            if self._signals.stop:
                self._stay("some processes that the program started can't be killed")
            select.select([], [], [], 1.0)
            self._context.kill()
        return "the server has no such job, or has ended this attempt to run it"

    def _wait(self, now: float) -> None:
        """Waits until something happens, or is due; then handles the descriptors that can be read
        or written.
        """
        context = self._context
        poller = select.poll()
        handlers: dict[int, Callable[[], object]] = {}

        def watch(descriptor: int, events: int, handler: Callable[[], object]) -> None:
            if descriptor >= 0:
                poller.register(descriptor, events)
                handlers[descriptor] = handler

        watch(self._signals.fileno(), select.POLLIN, self._signals.clear)
        watch(context.report_client.fileno(), context.report_client.events(), self._step)
        watch(
            context.control_requests.fileno(),
            context.control_requests.events(),
            self._step_control_requests,
        )
        if context.journal.accepts():
            for stream in self._phase.streams:
                watch(stream.fileno(), select.POLLIN, stream.read)
        dues = (
            context.report_client.deadline(),
            context.control_requests.deadline(),
            context.journal.deadline(),
        )
        due = min(*dues, self._phase.deadline())
        if not self._reasons:  # one that stays looks again whenever something happens
            due = min(due, self._leave_at())
        wait_s = min(max(0.0, due - now), _LONGEST_POLL_S)
        for descriptor, _ in poller.poll(math.ceil(wait_s * 1000)):
            handlers[descriptor]()
        context.control_requests.reap_finished()
        if context.containment is not None:
            context.containment.reap_finished()

    def _step(self) -> None:
        self._context.report_client.step(self._context.monotonic())

    def _step_control_requests(self) -> None:
        self._context.control_requests.step(self._context.monotonic())
