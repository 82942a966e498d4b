"""A process that owns a local backend, in order to be killed: run with ``python -m``.

``owner start FOLDER ARCHIVE ATTEMPT REPLICAS...`` starts a gang, says ``started``, and waits
until its standard input ends.

``owner crash FOLDER ARCHIVE REPLICAS...`` reads lines ``KIND NUMBER NAME`` from its standard
input. For each it forks a child that starts a gang below ``FOLDER/NAME`` and is killed: kind
``step`` at that step of the start, kind ``after`` so many milliseconds from its beginning. It
answers ``killed``, or ``done`` if the child came to its end before.

With ``start-forked`` and ``crash-forked`` supervisors come from a fork server, which is ready.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from footplate.backends.local import LocalBackend
from footplate.domain.names import AttemptId
from footplate.ports.backend import AttemptStart, Ticket
from tests.support.local_backend import make_ready_fork_server

TOKEN = "attempt-1.master-replica-0.0123456789abcdef"


def make_backend(folder: Path, archive: Path, *, forked: bool) -> LocalBackend:
    return LocalBackend(
        root=folder / "replicas",
        archive=archive,
        python=Path(sys.executable),
        server_file=folder / "server.json",
        cache=folder / "cache",
        buckets=folder / "buckets",
        uv=Path("/usr/bin/uv"),
        fork_server=make_ready_fork_server(archive) if forked else None,
    )


def make_start(attempt_id: str, replicas: Sequence[str]) -> AttemptStart:
    return AttemptStart(AttemptId(attempt_id), tuple(Ticket(name, TOKEN) for name in replicas))


def start(backend: LocalBackend, attempt_id: str, replicas: Sequence[str]) -> None:
    backend.watch(lambda _: None)
    backend.start(make_start(attempt_id, replicas))
    print("started", flush=True)
    sys.stdin.read()


def crash(folder: Path, make: Callable[[Path], LocalBackend], replicas: Sequence[str]) -> None:
    for line in sys.stdin:
        kind, number, name = line.split()
        step = int(number) if kind == "step" else 0
        made, making = os.pipe()
        child = os.fork()
        if child == 0:
            backend = make(folder / name)
            os.close(making)
            start_until(step, backend, replicas)
            if kind == "step":
                os._exit(0)
            signal.pause()
        os.close(making)
        os.read(made, 1)
        os.close(made)
        if kind == "after":
            time.sleep(int(number) / 1000)
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        print("killed" if os.WIFSIGNALED(status) else "done", flush=True)


def start_until(step: int, backend: LocalBackend, replicas: Sequence[str]) -> None:
    """Each thing that the interpreter asks of the system (and audits) is a step."""
    steps = 0

    def count(event: str, _: object) -> None:
        nonlocal steps
        if event.startswith(("open", "os.", "fcntl.", "subprocess.", "socket.")):
            steps += 1
            if steps == step:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    backend.start(make_start("u-1", replicas))


if __name__ == "__main__":
    verb, _, manner = sys.argv[1].partition("-")
    folder, archive, *words = sys.argv[2:]
    make = partial(make_backend, archive=Path(archive), forked=manner == "forked")
    if verb == "start":
        start(make(Path(folder)), words[0], words[1:])
    else:
        crash(Path(folder), make, words)
