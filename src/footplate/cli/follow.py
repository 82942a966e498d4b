"""Follows a job to its end, across restarts of the server.

Its log lines go to stdout, its events to stderr.
"""

from __future__ import annotations

import queue
import shutil
import sys
import threading
import time
from typing import TYPE_CHECKING, NoReturn

import click

from footplate.cli.jobs.events import PASSING, EventFormatter
from footplate.cli.keyboard_interrupt import INTERRUPTED
from footplate.cli.terminal_text import colourless, disarm
from footplate.client.records import LogLine
from footplate.domain.errors import ServiceError, Unavailable
from footplate.domain.job_states import State
from footplate.wire.footplate_v1.events import Event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from footplate.client.records import Job
    from footplate.client.service import Service
    from footplate.domain.names import JobName

_COLOURS = {
    "DEBUG": "bright_black",
    "WARNING": "yellow",
    "ERROR": "red",
    "CRITICAL": "red",
    "ALERT": "red",
    "EMERGENCY": "red",
}

_FACTS = frozenset({"ISOLATION", "LIMITS"})
"""Kinds that each start of a replica tells anew; of one that starts again it is mostly the same."""
_ENDS = frozenset(state.value for state in State if state.terminal)


class FollowOutput:
    """Prints on a terminal with colours and a line of progress, and elsewhere in plain lines.

    ``named``: lines begin with the name of the replica that printed them, and the trial's number.
    """

    def __init__(self, *, named: bool = True) -> None:
        self._named = named
        self._narrator = EventFormatter()
        self._width = 0
        self._progress = False
        self._told: set[str] = set()
        self._live = sys.stderr.isatty() and not colourless()

    def line(self, line: LogLine) -> None:
        self._clear()
        text = line.message
        if self._named:
            name = f"trial {line.trial}  {line.replica}" if line.trial else line.replica
            self._width = max(self._width, len(name))
            text = f"{name:<{self._width}}  {text}"
        click.secho(disarm(text, moving=True), fg=_COLOURS.get(line.severity))

    def event(self, event: Event) -> None:
        """Prints an event; on a terminal the next one overwrites a progress event.

        Skips the job's end, which the verdict prints.
        """
        if event.kind in _ENDS:
            return
        text = disarm(self._narrator.tell(event))
        if event.kind == "WAITING":
            self.note(disarm(event.message))
        elif event.kind in _FACTS and text in self._told:
            return
        elif event.kind in PASSING:
            self._told.add(text)
            self.note(text, passing=True)
        else:
            self._clear()
            click.secho(text, err=True, fg="yellow")

    def note(self, text: str, *, passing: bool = False) -> None:
        """Prints on stderr; on a terminal the next note overwrites a ``passing`` one."""
        self._clear()
        if passing and self._live:
            columns = shutil.get_terminal_size().columns
            click.secho(text[: max(20, columns - 1)], err=True, nl=False, dim=True)
            self._progress = True
        else:
            click.secho(text, err=True, dim=passing)

    def _clear(self) -> None:
        if self._progress:
            click.echo("\r\x1b[2K", err=True, nl=False)
            self._progress = False

    close = _clear


TIMEOUT_S = 120.0
"""How long a server may be away before the follower gives up."""

RETRY_S = 1.0

POLLS = 4
POLL_INTERVAL_S = 0.05
"""How often, and how long after one another, a program's first line is held back for its start.

The report that brings both has its lines stored first.
"""

_STATES = frozenset(state.value for state in State)

Item = LogLine | Event | str | Exception


class Follower:
    """Prints lines and events of a job; two readers feed one queue, in the order of arrival."""

    def __init__(
        self, connect: Callable[[], Service], name: JobName, screen: FollowOutput, replica: str = ""
    ) -> None:
        self._connect = connect
        self._name = name
        self._screen = screen
        self._replica = replica
        self._queue: queue.SimpleQueue[Item | Job] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._events = threading.Lock()
        self._event_number = 0
        self._events_due = 0.0
        self._with_events = True
        self._running = False
        self._looked_in_vain_after = -1

    def run(self, *, events: bool = True) -> Job:
        """Prints until the job has ended; returns the ended job.

        Raises:
            ServiceError: the job was deleted, or the server didn't answer for too long.
        """
        self._with_events = events
        readers = [self._read_lines, *([self._read_events] if events else [])]
        for reader in readers:
            threading.Thread(target=reader, daemon=True).start()
        try:
            while True:
                item = self._queue.get()
                if isinstance(item, LogLine):
                    self._screen.line(item)
                elif isinstance(item, Event):
                    self._screen.event(item)
                elif isinstance(item, str):
                    self._screen.note(item, passing=True)
                elif isinstance(item, Exception):
                    raise item
                else:
                    return item
        finally:
            self._stop.set()
            self._screen.close()

    def _read_lines(self) -> None:
        cursor, away_since = 0, 0.0
        while not self._stop.is_set():
            try:
                with self._connect() as service:
                    service.health()
                    away_since = 0.0
                    for line in self._lines(service, cursor, follow=True):
                        cursor = line.cursor
                        self._put_events_before_line(service)
                        self._queue.put(line)
                    job = service.job(self._name)
                    if job.state.terminal:
                        self._put_events(service, now=True)
                        self._read_rest(service, cursor)
                        self._queue.put(job)
                        return
            except Unavailable as error:
                if not away_since:
                    away_since = time.monotonic()
                    self._queue.put(
                        "The server doesn't answer; the job continues. Waiting for the server..."
                    )
                elif time.monotonic() - away_since > TIMEOUT_S:
                    self._queue.put(error)
                    return
            except Exception as error:  # else the reader of the queue would wait for ever
                self._queue.put(error)
                return
            self._stop.wait(RETRY_S)

    def _read_rest(self, service: Service, cursor: int) -> None:
        """Reads the lines written between the end of the stream and the job's end."""
        for line in self._lines(service, cursor):
            self._queue.put(line)

    def _lines(self, service: Service, cursor: int, *, follow: bool = False) -> Iterator[LogLine]:
        return service.logs(self._name, cursor=cursor, follow=follow, replica=self._replica)

    def _put_events_before_line(self, service: Service) -> None:
        """Prints events before the lines that follow them, without a request for each line.

        A line shows that a program runs. Until an event says so too, new events are requested at
        once, but only once after each event, since the line may be from an earlier attempt.
        """
        for _ in range(POLLS):
            look = not self._running and self._looked_in_vain_after != self._event_number
            self._put_events(service, now=look)
            if not look or self._running or not self._with_events:
                return
            self._stop.wait(POLL_INTERVAL_S)
        self._looked_in_vain_after = self._event_number

    def _put_events(self, service: Service, *, now: bool = False) -> None:
        """Queues new events. ``now`` requests them even if they were requested just before."""
        with self._events:
            if not self._with_events or (time.monotonic() < self._events_due and not now):
                return
            for event in service.events(self._name, after=self._event_number):
                self._event_number = event.number
                if not event.replica and event.kind in _STATES:
                    self._running = event.kind == State.RUNNING.value
                self._queue.put(event)
            self._events_due = time.monotonic() + RETRY_S / 2

    def _read_events(self) -> None:
        while not self._stop.is_set():
            try:
                with self._connect() as service:
                    self._put_events(service)
            except Unavailable:
                pass
            except ServiceError:
                return
            self._stop.wait(RETRY_S)


def verdict(job: Job) -> str:
    """Returns a sentence on the state of a job, with the cause if it has one."""
    cause = f": {disarm(job.error_message)}" if job.error_message else ""
    identity = job.name.job_id
    match job.state:
        case State.SUCCEEDED:
            noted = str(job.resource.get("endExplanation") or "")
            return f"Job {identity} succeeded." + (f" But {disarm(noted)}" if noted else "")
        case State.FAILED:
            return f"Job {identity} failed{cause or '.'}"
        case State.CANCELLED | State.CANCELLING:
            return f"Job {identity} was cancelled{cause or '.'}"
        case State.QUEUED | State.PREPARING | State.RUNNING:
            return f"Job {identity} is {job.state.value}{cause}"


def conclude(job: Job, *, interrupted: bool = False) -> NoReturn:
    """Prints the verdict and ends the process: 0 if the job succeeded, 1 otherwise.

    With ``interrupted``, if the user ended it by Ctrl-C, the exit code is 130.
    """
    succeeded = job.state is State.SUCCEEDED
    click.secho(verdict(job), err=True, fg="green" if succeeded else "red")
    sys.exit(INTERRUPTED if interrupted else int(not succeeded))
