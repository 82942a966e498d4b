"""Runs a job to its end, in a service that lives as long as the command."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from footplate.catalogue import load_catalogue
from footplate.cli.follow import Follower, FollowOutput, conclude
from footplate.cli.session import Target
from footplate.client.service import Service
from footplate.domain.errors import FailedPrecondition
from footplate.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from footplate.client.records import Job
    from footplate.domain.names import JobName
    from footplate.domain.runtimes import Runtimes

PROJECT = "local"
"""Of all jobs and buckets of a private service."""


def run_to_end(
    send: Callable[[Service], JobName],
    replicas: int = 1,
    *,
    gpus: bool = False,
    seen: Path | None = None,
) -> NoReturn:
    """Runs a job in a private service, follows it, and ends the process with it.

    ``send`` creates the job, with ``replicas`` replicas. ``gpus`` lets it use this machine's GPUs.
    ``seen`` is a folder that it sees wherever it lies.
    """
    with private_service(replicas, gpus=gpus, seen=seen) as connect:
        with connect() as service:
            name = send(service)
        job, interrupted = follow(connect, name, named=replicas > 1)
    conclude(job, interrupted=interrupted)


def follow(connect: Callable[[], Service], name: JobName, *, named: bool) -> tuple[Job, bool]:
    """Follows the job; returns it as it ended, and whether Ctrl-C cancelled it."""

    def cancel() -> None:
        click.echo("\nCancelling the job, and waiting until it has ended.", err=True)
        with connect() as service:
            service.cancel(name)

    with _at_interrupt(cancel) as interrupted:
        job = Follower(connect, name, FollowOutput(named=named)).run()
    return job, interrupted.is_set()


@contextmanager
def _at_interrupt(act: Callable[[], None]) -> Iterator[threading.Event]:
    """Makes the first Ctrl-C call ``act`` and set the event; the next one acts as usual."""
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


_COMMAND = (sys.executable, "-P", "-m", "footplate.cli.local_runs.serving")
"""-P: nothing in the directory where the user stands is taken for a module of ours."""

_GPUS = "gpus"


@contextmanager
def private_service(
    replicas: int, *, gpus: bool = False, seen: Path | None = None
) -> Iterator[Callable[[], Service]]:
    """Runs a private service with room for ``replicas``; yields a function that connects to it.

    ``gpus`` lets it allocate this machine's GPUs, each as a GPU_TYPE. ``seen`` is a folder that
    programs see even below /tmp, although each has its own /tmp. At the end of the block it cancels
    the remaining jobs, waits for their end, and removes the service's files.

    Raises:
        FailedPrecondition: the service can't start or, at a connection, has ended.
    """
    folder = Path(tempfile.mkdtemp(prefix="footplate-local-"))
    process = subprocess.Popen(
        [*_COMMAND, folder, str(replicas), str(seen or ""), *([_GPUS] if gpus else [])],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for this process to understand
    )
    try:
        target = _announced(process)

        def connect() -> Service:
            if process.poll() is not None:
                raise FailedPrecondition("the private service has ended")
            return Service(target.url, target.token)

        yield connect
    finally:
        process.communicate()  # closes its standard input, which it takes for the end
        if folder.exists():  # it was killed; its job keeps running
            subprocess.run([*_COMMAND, folder], check=False, capture_output=True)


def _announced(process: subprocess.Popen[bytes]) -> Target:
    line = process.stdout.readline() if process.stdout else b""
    announcement = json.loads(line) if line else {"error": "the process of the service has ended"}
    if "error" in announcement:
        raise FailedPrecondition(f"the private service can't start: {announcement['error']}")
    return Target(announcement["url"], announcement["token"])


def require_image(uri: str) -> None:
    """Raises InvalidArgument if the private service hasn't the image's runtime."""
    _runtimes().for_image(uri, "--executor-image-uri")


def require_version(version: str | None, python: str | None) -> None:
    """Raises InvalidArgument if the private service hasn't the runtime, or not with this Python."""
    _runtimes().for_version(version or "", python or "", "--runtime-version")


def _runtimes() -> Runtimes:
    return load_catalogue(load_settings(os.environ).catalogue).runtimes
