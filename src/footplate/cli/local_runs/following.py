"""Follows a job that ends with the command; Ctrl-C cancels it."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from footplate.cli.follow import Follower
from footplate.cli.follow_output import FollowOutput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from footplate.client.records import Job
    from footplate.client.service import Service
    from footplate.domain.names import JobName


def follow(connect: Callable[[], Service], name: JobName, *, named: bool) -> tuple[Job, bool]:
    """The job as it ended, and whether that was asked for by Ctrl-C."""

    def cancel() -> None:
        click.echo("\nCancelling the job, and waiting for its end.", err=True)
        with connect() as service:
            service.cancel(name)

    with _at_interrupt(cancel) as interrupted:
        job = Follower(connect, name, FollowOutput(named=named)).run()
    return job, interrupted.is_set()


@contextmanager
def _at_interrupt(act: Callable[[], None]) -> Iterator[threading.Event]:
    """In the block the first Ctrl-C is ``act``'s, and sets the event; the next is one as ever."""
    seen = threading.Event()

    def handle(_number: int, _frame: object) -> None:
        signal.signal(signal.SIGINT, before)
        seen.set()
        # In a thread: the line that is being printed holds the lock of its stream.
        threading.Thread(target=act, name="cancel", daemon=True).start()

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, before)
