"""Prints the trials of a job while it runs."""

from __future__ import annotations

import sys
import time
from textwrap import wrap
from typing import TYPE_CHECKING

import click

from footplate.cli.follow import RETRY_S, TIMEOUT_S
from footplate.cli.jobs.kinds import PENDING
from footplate.cli.terminal_text import colourless, disarm
from footplate.cli.trials.fields import utc_now
from footplate.cli.trials.summary import earlier_line
from footplate.cli.trials.table import HEADING, best_line, narrow_table, result, why
from footplate.domain.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.console import ConsoleDimensions, RenderableType

    from footplate.cli.session import Session
    from footplate.client.records import Job
    from footplate.client.service import Service
    from footplate.domain.names import JobName
    from footplate.wire.footplate_v1.trials import Trial, TrialList

    Shown = tuple[TrialList, Sequence[Trial]]
    Read = Callable[[Service, JobName], Shown]
    """All trials of a job, and those that are shown."""


_RUNNING = ("ACTIVE", "STOPPING")
_LEAST, _AROUND = 5, 6
"""Rows that are shown at least, and lines around them."""


def watch(session: Session, name: JobName, read: Read) -> Job:
    """Shows the trials until the job has ended; returns the ended job.

    On a terminal it shows a live table, elsewhere a line for each trial that has ended. Changes of
    the job's state go to stderr.

    Raises:
        ServiceError: the job was deleted, or the server didn't answer for too long.
    """
    states = _states(session, name, read)
    return _live(states) if sys.stdout.isatty() else _lines(states)


def headline(view: TrialList) -> str:
    """Returns the job's progress in one line."""
    count = len(view.trials)
    parts = [
        (sum(t.state == "SUCCEEDED" for t in view.trials), "succeeded"),
        (sum(t.state == "INFEASIBLE" for t in view.trials), "without result"),
        (sum(t.state == "REQUESTED" for t in view.trials), "not started yet"),
        (sum(t.state in _RUNNING for t in view.trials), "running"),
    ]
    counts = ", ".join(f"{number} {what}" for number, what in parts if number)
    begun = f"{count} of {view.counts.trials} trials" if view.counts.trials else f"{count} trials"
    return f"{view.job.job_id} is {view.state}: {begun}{f' ({counts})' if counts else ''}"


def _states(session: Session, name: JobName, read: Read) -> Iterator[tuple[Shown, Job]]:
    """Yields the job's state at intervals, and a last time when it has ended."""
    away_since = 0.0
    while True:
        try:
            with session.connect() as service:
                while True:
                    # The job first: when it has ended, so have the trials that are read then.
                    job = service.job(name)
                    yield read(service, name), job
                    away_since = 0.0
                    if job.state.terminal:
                        return
                    time.sleep(RETRY_S)
        except Unavailable:
            away_since = away_since or time.monotonic()
            if time.monotonic() - away_since > TIMEOUT_S:
                raise
            time.sleep(RETRY_S)


def _live(states: Iterator[tuple[Shown, Job]]) -> Job:
    # Imported here: rich takes longer to import than the rest of the command.
    from rich.console import Console
    from rich.live import Live

    console = Console(no_color=colourless())
    with Live(console=console, auto_refresh=False, vertical_overflow="visible") as live:
        for (view, shown), job in states:
            picture = _picture(view, shown, _why_it_waits(job), console.size)
            live.update(picture, refresh=True)
            last = job
    return last


def _picture(
    view: TrialList, shown: Sequence[Trial], waits: str, size: ConsoleDimensions
) -> RenderableType:
    """Renders the latest trials that fit the screen."""
    from rich.console import Group
    from rich.text import Text

    notes = wrap(disarm(waits), size.width)
    room = max(_LEAST, size.height - _AROUND - len(notes))
    lines = narrow_table(view, shown, utc_now(), size.width)
    headings = [line for line in lines if line[1] == HEADING]
    rows = lines[len(headings) :]
    parts = [(disarm(headline(view), plain=True), "bold"), *headings]
    if len(rows) > room:
        parts.append((f"... {len(rows) - room} lines above", "dim"))
    parts += rows[-room:]
    if best := best_line(view):
        parts.append((disarm(best, plain=True), "green"))
    if earlier := earlier_line(view):
        parts.append((disarm(earlier, plain=True), ""))
    parts += [(line, "dim") for line in notes]
    return Group(*(Text(text, style=style, no_wrap=True) for text, style in parts))


def _lines(states: Iterator[tuple[Shown, Job]]) -> Job:
    printed: set[int] = set()
    before = ("", False)
    for (view, shown), job in states:
        waits = _why_it_waits(job)
        now = (view.state, bool(waits))
        if now != before and not job.state.terminal:
            said = headline(view) + (f"\n{waits}" if waits else "")
            click.echo(disarm(said, plain=True), err=True)
        before = now
        ended = [t for t in shown if t.ended and t.number not in printed]
        for trial in sorted(ended, key=lambda t: t.end_time):
            printed.add(trial.number)
            click.echo(disarm(_line(view, trial), plain=True))
        last = job
    click.echo(disarm(headline(view), plain=True))
    for note in (best_line(view), earlier_line(view)):
        if note:
            click.echo(disarm(note, plain=True))
    return last


def _why_it_waits(job: Job) -> str:
    return str(job.resource.get(PENDING) or "")


def _line(view: TrialList, trial: Trial) -> str:
    reason = f": {why(trial)}" if why(trial) else ""
    outcome = result(trial) if trial.state == "SUCCEEDED" else view.shown_state(trial)
    early = ", stopped early" if trial.stop_reason else ""
    return f"trial {trial.number}: {outcome}{early}{reason}"
