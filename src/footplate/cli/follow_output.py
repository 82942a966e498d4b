"""Output of following a job: log lines on stdout, events on stderr."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

import click

from footplate.cli.jobs.events import PASSING, EventFormatter
from footplate.cli.terminal_text import colourless, disarm
from footplate.domain.job_states import State

if TYPE_CHECKING:
    from footplate.client.records import Event, LogLine

_COLOURS = {
    "DEBUG": "bright_black",
    "WARNING": "yellow",
    "ERROR": "red",
    "CRITICAL": "red",
    "ALERT": "red",
    "EMERGENCY": "red",
}

_FACTS = frozenset({"ISOLATION", "LIMITS", "NETWORK"})
"""Kinds that each start of a replica tells anew; of one that starts again it is mostly the same."""
_ENDS = frozenset(state.value for state in State if state.terminal)


class FollowOutput:
    """Colours and a progress line that rewrites itself on a terminal, plain lines elsewhere.

    ``named``: lines begin with the name of the replica that printed them, and its trial's number.
    """

    def __init__(self, *, named: bool = True) -> None:
        self._named = named
        self._narrator = EventFormatter()
        self._width = 0
        self._progress = False
        self._told: set[str] = set()
        self._live = sys.stderr.isatty() and not colourless()
        self._shown = sys.stdout.isatty()

    def line(self, line: LogLine) -> None:
        self._clear()
        text = line.message
        if self._named:
            name = f"trial {line.trial}  {line.replica}" if line.trial else line.replica
            self._width = max(self._width, len(name))
            text = f"{name:<{self._width}}  {text}"
        shown = disarm(text, moving=True) if self._shown else text
        click.secho(shown, fg=_COLOURS.get(line.severity))

    def event(self, event: Event) -> None:
        """Progress events are temporary; all others stay. The verdict prints the end."""
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
        """On stderr; on a terminal a passing note gives way to the next one."""
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
