"""Starts a service for one command, in its own process and directory."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from footplate.cli.server_address import Target
from footplate.client.service import Service
from footplate.domain.errors import FailedPrecondition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_COMMAND = (sys.executable, "-P", "-m", "footplate.cli.local_runs.serving")
"""-P: nothing in the directory where the user stands is taken for a module of ours."""

_GPUS = "gpus"


@contextmanager
def private_service(
    replicas: int, *, gpus: bool = False, seen: Path | None = None
) -> Iterator[Callable[[], Service]]:
    """Clients of a service with room for so many replicas.

    ``gpus``: it hands out those of this machine, each as a GPU_TYPE. ``seen``: a folder that
    programs see even below /tmp, of which each has one of its own.

    At the end of the block what still runs there is cancelled, and awaited; nothing is left.

    Raises:
        FailedPrecondition: it can't start, or (when a client is asked for) it has died.
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
    told = json.loads(line) if line else {"error": "its process has ended"}
    if "error" in told:
        raise FailedPrecondition(f"the private service can't start: {told['error']}")
    return Target(told["url"], told["token"])
