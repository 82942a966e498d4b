"""Build progress: a bar on a terminal, a line for each step elsewhere."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from footplate.cli.terminal_text import colourless, disarm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import Progress

    from footplate.replica.environment.progress_output import ProgressOutput


@contextmanager
def shown() -> Iterator[ProgressOutput]:
    """Progress output for the user, on stderr."""
    # Imported here: a help text has no use for it.
    from footplate.replica.environment.progress_output import ProgressOutput

    if not sys.stderr.isatty() or colourless():
        yield ProgressOutput(_echo)
        return
    # Imported here: rich takes longer to import than the rest of the command.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    console = Console(stderr=True)
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as bar:
        yield _bar_teller(bar)


def _echo(told: dict[str, object]) -> None:
    click.echo(disarm(str(told["m"])), err=True)


def _bar_teller(bar: Progress) -> ProgressOutput:
    from footplate.replica.environment.progress_output import ProgressOutput

    class ProgressBarOutput(ProgressOutput):
        """Counts move the bar, messages stay above it."""

        def __init__(self) -> None:
            super().__init__(lambda told: bar.print(disarm(str(told["m"])), markup=False))
            self._task = bar.add_task("preparing", total=None)

        def count(self, what: str) -> Callable[[int, int], None]:
            return lambda done, total: bar.update(
                self._task, description=f"{what}: packages", completed=done, total=total
            )

    return ProgressBarOutput()
