"""The command ``guard``: ends a container whose supervisor is dead, however that was killed.

It runs in a container of its own, beside that of the program: what kills all processes of an
engine's job on a node doesn't reach it. The kernel drops the supervisor's lock at its death.
"""

from __future__ import annotations

import fcntl
import os
import sys
import time

from footplate.containers.engine_api import Engine, EngineError, EngineGone

READY = b"ready\n"
LOCK = "/footplate/lock"
"""The file that the supervisor holds a lock of, inside."""
_MIN_RETRY_S, _MAX_RETRY_S = 0.1, 5.0


def main(socket: str, container: str) -> int:
    """Runs the guard: writes ``READY`` once the guard can do its work, and returns when the
    container is gone.
    """
    engine = Engine(socket)
    lock = os.open(LOCK, os.O_RDONLY)
    engine.identify()
    sys.stdout.buffer.write(READY)
    sys.stdout.buffer.flush()
    wait_for_death(lock)
    remove(engine, container)
    return 0


def wait_for_death(lock: int) -> None:
    """Waits until no process holds ``lock`` exclusively; closes it, because cleanup needs the lock
    for itself.
    """
    try:
        fcntl.flock(lock, fcntl.LOCK_SH)
    finally:
        os.close(lock)


def remove(engine: Engine, container: str) -> None:
    """Removes the container; tries again until the engine has none of this name."""
    retry_s = _MIN_RETRY_S
    while True:
        try:
            engine.remove(container)
        except (EngineError, EngineGone) as error:
            print(error, file=sys.stderr)
        else:
            return
        time.sleep(retry_s)
        retry_s = min(_MAX_RETRY_S, retry_s * 2)
