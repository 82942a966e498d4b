"""Runs a job in a private service to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from footplate.cli.follow import conclude
from footplate.cli.local_runs.following import follow
from footplate.cli.local_runs.private_service import private_service

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from footplate.client.service import Service
    from footplate.domain.names import JobName

PROJECT = "local"
"""Of all jobs and buckets of a private service."""


def run_to_end(
    send: Callable[[Service], JobName],
    replicas: int = 1,
    *,
    gpus: bool = False,
    seen: Path | None = None,
) -> NoReturn:
    """``send`` makes the job, of so many replicas; then it is followed. Ends the process.

    ``gpus``: it may use those of this machine. ``seen``: a folder that it sees wherever it lies.
    """
    with private_service(replicas, gpus=gpus, seen=seen) as connect:
        with connect() as service:
            name = send(service)
        job, interrupted = follow(connect, name, named=replicas > 1)
    conclude(job, interrupted=interrupted)
