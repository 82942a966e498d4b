"""A supervisor without a program, which honours its HOME: for tests of backends.

Run as a script, ``stand_in.py {run|sweep} HOME``, or ``fork_server``, which forks others. SIGTERM
stops it, SIGUSR1 is the end of the program that it doesn't have. It writes a line to ``runs`` in
HOME when it comes up. In its own directory it looks for

``source``       where the package footplate is to be found, for the fork server
``hold``         while there, nothing comes up
``break``        while there, nothing can be run: it exits at once
``break-sweep``  while there, sweeping fails
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sys
import time
from pathlib import Path

NOTHING_TO_DO = 3
BROKEN = 1
POLL_S = 0.01
SIGNALS = (signal.SIGTERM, signal.SIGUSR1)


def main(verb: str, home: Path, here: Path) -> int:
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    if verb == "sweep":
        return _sweep(home, here)
    while (here / "hold").exists() and not (here / "break").exists():
        time.sleep(POLL_S)
    if (here / "break").exists():
        print("the stand-in is broken", file=sys.stderr)
        return BROKEN
    return _run(home)


def _run(home: Path) -> int:
    if not _take(home / "lock") or (home / "gone").exists():
        return NOTHING_TO_DO
    if not (home / "stop").exists():
        _append(home / "runs", f"{os.getpid()}")
    (home / "pid").write_text(f"{os.getpid()}\n")
    if (home / "stop").exists():  # later than the pid: whoever sees no pid left this mark
        return _finish(home, "stopped before it began")
    (home / "begun").touch()
    number = signal.sigwait(SIGNALS)
    return _finish(home, "stopped" if number == signal.SIGTERM else "it ended")


def _sweep(home: Path, here: Path) -> int:
    if not _take(home / "lock"):
        return NOTHING_TO_DO
    if (here / "break-sweep").exists():
        print("the stand-in can't sweep", file=sys.stderr)
        return BROKEN
    if not (home / "gone").exists():
        return _finish(home, "its supervisor died")
    return 0


def _take(lock: Path) -> bool:
    """Hold the lock until this process is dead."""
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _finish(home: Path, reason: str) -> int:
    fresh = home / "gone.part"
    fresh.write_text(json.dumps({"reason": reason}))
    fresh.replace(home / "gone")
    return 0


def _append(path: Path, line: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(descriptor, f"{line}\n".encode())
    os.close(descriptor)


def _nurse(here: Path) -> int:
    sys.path.insert(0, (here / "source").read_text())
    from footplate.replica import fork_server

    return fork_server.serve(lambda home: main("run", Path(home), here))


if __name__ == "__main__":
    if sys.argv[1] == "fork-server":
        sys.exit(_nurse(Path(__file__).absolute().parent))
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), Path(__file__).absolute().parent))
