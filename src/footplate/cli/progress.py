"""Progress output: a progress line on terminals, plain lines elsewhere."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from footplate.cli.terminal_text import clip, colourless, disarm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import TracebackType

    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from footplate.replica.environment.progress_output import ProgressOutput


class Progress:
    """Shows progress in a ``with`` block; each ``step`` begins a part of the work.

    A terminal keeps nothing of the output. Elsewhere each step is a line on stderr, or nothing
    unless ``plain``.
    """

    def __init__(self, verb: str, steps: int, *, plain: bool = True) -> None:
        self._verb = verb
        self._steps = steps
        self._plain = plain
        self._done = -1
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Progress:
        if not sys.stderr.isatty() or colourless():
            return self
        # Imported here: it takes longer than most commands.
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        self._bar = Bar(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._bar.start()
        self._task = self._bar.add_task(self._verb, total=self._steps)
        return self

    def step(self, text: str) -> None:
        self._done += 1
        if self._bar is None or self._task is None:
            if self._plain:
                colour = False if colourless() else None
                click.secho(disarm(text), err=True, dim=True, color=colour)
            return
        room = max(20, self._bar.console.width - 45)
        self._bar.update(self._task, description=clip(disarm(text), room), completed=self._done)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


@contextmanager
def build_progress() -> Iterator[ProgressOutput]:
    """Shows the progress of the build of an environment on stderr."""
    # Imported here: a help text has no use for it.
    from footplate.replica.environment.progress_output import ProgressOutput

    if not sys.stderr.isatty() or colourless():
        yield ProgressOutput(_echo)
        return
    # Imported here: rich takes longer to import than the rest of the command.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    console = Console(stderr=True)
    with Bar(*columns, TimeElapsedColumn(), console=console, transient=True) as bar:
        yield _bar_teller(bar)


def _echo(event: Mapping[str, object]) -> None:
    click.echo(disarm(str(event["m"])), err=True)


def _bar_teller(bar: Bar) -> ProgressOutput:
    from footplate.replica.environment.progress_output import ProgressOutput

    class ProgressBarOutput(ProgressOutput):
        """Shows a build's progress: counts move the bar, and messages appear above it."""

        def __init__(self) -> None:
            super().__init__(lambda told: bar.print(disarm(str(told["m"])), markup=False))
            self._task = bar.add_task("preparing", total=None)

        def count(self, what: str) -> Callable[[int, int], None]:
            return lambda done, total: bar.update(
                self._task, description=f"{what}: packages", completed=done, total=total
            )

    return ProgressBarOutput()
