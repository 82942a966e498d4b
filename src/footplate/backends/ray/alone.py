"""The entry point of a Ray job with one replica: runs its launcher in the place that Ray gave it.

It is a file of its own on the cluster, and doesn't import Ray, which takes longer than all else.
When Ray ends the job without a signal to the launcher, or its worker dies, the launcher gets
SIGTERM and ends its replica in order.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

SET_PDEATHSIG = 1
ADDRESS = b"--node_ip_address="


def find_address() -> str:
    """Returns the node's address as Ray knows it, from the process of Ray that started this one's
    parent; '' if there is none.
    """
    pid = os.getppid()
    try:
        while pid > 1:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
            for word in words:
                if word.startswith(ADDRESS):
                    return word[len(ADDRESS) :].decode()
            with open(f"/proc/{pid}/stat", "rb") as file:
                pid = int(file.read().rpartition(b")")[2].split()[1])
    except (FileNotFoundError, PermissionError):  # it is hidden from other users
        pass
    return ""


def launch(parent: int, name: str) -> None:
    """Becomes the launcher, in a session that outlives the signals to Ray's group."""
    os.setsid()
    ctypes.CDLL(None).prctl(SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:  # it died before prctl: no signal comes
        return
    os.environ.update(FOOTPLATE_RANK="0", FOOTPLATE_JOB=name, FOOTPLATE_NODE=find_address())
    with open("program.py", "rb") as file:
        program = file.read()
    exec(compile(program, "program.py", "exec"), {"__name__": "__main__"})  # noqa: S102


def main(name: str) -> int:
    # No signal may arrive between the fork and the handler, which needs the child's number.
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM, signal.SIGINT))
    parent = os.getpid()
    child = os.fork()
    if not child:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGTERM, signal.SIGINT))
        launch(parent, name)
        return 1
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _: os.kill(child, received))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGTERM, signal.SIGINT))
    status = os.waitpid(child, 0)[1]
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
