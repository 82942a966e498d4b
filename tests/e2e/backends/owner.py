"""A process that owns a local backend, in order to be killed: run as a script.

``owner.py start FOLDER ARCHIVE ATTEMPT REPLICAS...`` starts a gang, says ``started``, and waits
until its standard input ends.

``owner.py crash FOLDER ARCHIVE REPLICAS...`` reads lines ``KIND NUMBER NAME`` from its standard
input. For each it forks a child that starts a gang below ``FOLDER/NAME`` and is killed: kind
``step`` at that step of the start, kind ``after`` so many milliseconds from its beginning. It
answers ``killed``, or ``done`` if the child came to its end before.
"""

import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from footplate.backends.local import LocalBackend
from footplate.domain.names import AttemptId
from footplate.ports.backend import AttemptStart, Ticket

TOKEN = "attempt-1.master-replica-0.0123456789abcdef"


def make_backend(folder: Path, archive: Path) -> LocalBackend:
    return LocalBackend(
        root=folder / "replicas",
        archive=archive,
        python=Path(sys.executable),
        server_file=folder / "server.json",
        cache=folder / "cache",
        buckets=folder / "buckets",
        uv=Path("/usr/bin/uv"),
    )


def make_start(attempt_id: str, replicas: Sequence[str]) -> AttemptStart:
    return AttemptStart(AttemptId(attempt_id), tuple(Ticket(name, TOKEN) for name in replicas))


def start(folder: Path, archive: Path, attempt_id: str, replicas: Sequence[str]) -> None:
    backend = make_backend(folder, archive)
    backend.watch(lambda _: None)
    backend.start(make_start(attempt_id, replicas))
    print("started", flush=True)
    sys.stdin.read()


def crash(folder: Path, archive: Path, replicas: Sequence[str]) -> None:
    for line in sys.stdin:
        kind, number, name = line.split()
        step = int(number) if kind == "step" else 0
        child = os.fork()
        if child == 0:
            start_until(step, folder / name, archive, replicas)
            if kind == "step":
                os._exit(0)
            signal.pause()
        if kind == "after":
            time.sleep(int(number) / 1000)
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        print("killed" if os.WIFSIGNALED(status) else "done", flush=True)


def start_until(step: int, folder: Path, archive: Path, replicas: Sequence[str]) -> None:
    """Each thing that the interpreter asks of the system (and audits) is a step."""
    backend = make_backend(folder, archive)
    steps = 0

    def count(event: str, _: object) -> None:
        nonlocal steps
        if event.startswith(("open", "os.", "fcntl.", "subprocess.")):
            steps += 1
            if steps == step:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    backend.start(make_start("u-1", replicas))


if __name__ == "__main__":
    if sys.argv[1] == "start":
        start(Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4], sys.argv[5:])
    else:
        crash(Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:])
