"""The command ``fork_server``: a preloaded process that forks supervisors.

A request comes as one message on standard input, a socket: the path of a HOME, and with it two
descriptors, the lock of its spawn and its log. The answer is the pid of its supervisor, or why
there can't be one. The supervisor is one like any other, of its own session, with the command
line ``run HOME``; it outlives the fork server, which ends when nobody holds the other end any more.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys

from footplate.replica.isolation.spawn import close_all_but
from footplate.replica.process_title import ProcessTitle

TYPE_CHECKING = False  # without the module typing, which would cost memory

if TYPE_CHECKING:
    from typing import Callable, Sequence

COMMAND = "fork-server"
READY = b"ready"
_MOST_BYTES = 4096
_DESCRIPTORS = 2
_OK = 0
_FAILED = 1


def main() -> int:
    return serve(load())


def load() -> Callable[[str], int]:
    """Imports all that supervisors, and what they fork, usually need: its pages are shared."""
    import ctypes
    import encodings.ascii

    from footplate.replica import program_hooks, rendezvous, run
    from footplate.replica.isolation import cgroup_hierarchies, mount_namespace, procfs
    from footplate.replica.metrics import watcher

    procfs.boot_id()  # is remembered, as is
    cgroup_hierarchies.find_hierarchies()
    program_hooks.read_sources()
    _read_machine_roots()
    del ctypes, encodings, rendezvous, cgroup_hierarchies, procfs, mount_namespace, watcher
    del program_hooks
    host = dict(os.environ)  # Python decodes each variable whenever it is asked for
    return lambda home: run.supervise(home, host)


def _read_machine_roots() -> None:
    from footplate.replica.tensorflow_storage import read_machine_roots

    try:
        read_machine_roots()
    except OSError:  # each supervisor tries again, and reports it
        return


def serve(run: Callable[[str], int]) -> int:
    """Forks for each request a process that does ``run`` with the path of its HOME."""
    title = ProcessTitle.find(COMMAND)
    # A pass of the collector in a supervisor would write to all objects that it has from here, and
    # so copy their pages. Frozen objects are left out of these passes.
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps; the server sees them end
    with socket.socket(fileno=0) as channel:
        channel.send(READY)
        while True:
            try:
                path, descriptors, _, _ = socket.recv_fds(
                    channel, _MOST_BYTES, _DESCRIPTORS, socket.MSG_CMSG_CLOEXEC
                )
            except ConnectionResetError:
                return _OK
            if not path:
                return _OK
            try:
                answer = str(_fork(title, os.fsdecode(path), descriptors, channel, run))
            except (OSError, ValueError) as error:
                answer = f"the fork server can't fork a supervisor: {error}"
            for descriptor in descriptors:
                os.close(descriptor)
            try:
                channel.send(answer.encode("utf-8", "replace"))
            except BrokenPipeError:
                return _OK


def _fork(
    title: ProcessTitle,
    home: str,
    descriptors: list[int],
    channel: socket.socket,
    run: Callable[[str], int],
) -> int:
    """Forks a supervisor and returns its pid. Raises OSError, ValueError if there can't be one."""
    if len(descriptors) != _DESCRIPTORS:
        raise ValueError(f"{len(descriptors)} descriptors came with {home}")
    words = ("run", home)
    title.check(words)
    pid = os.fork()
    if pid == 0:
        channel.detach()
        _become(lambda: _live(title, words, descriptors, run))
    return pid


def _become(life: Callable[[], int]) -> None:
    """Runs ``life`` and never returns: nothing may unwind into the fork server's code."""
    code = _FAILED
    try:
        code = life()
        sys.stdout.flush()
    except BaseException:  # it is the last of this process
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(code)


def _live(
    title: ProcessTitle, words: Sequence[str], descriptors: Sequence[int], run: Callable[[str], int]
) -> int:
    _leave(*descriptors)
    title.change(words)
    return run(words[-1])


def _leave(lock: int, log: int) -> None:
    """Gives this process the session and descriptors of one that was started by itself."""
    # With the ignored SIGCHLD of the fork server the kernel would reap this process's children, and
    # their exit status would be lost.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    null = os.open(os.devnull, os.O_RDONLY)
    for descriptor, number in ((null, 0), (log, 1), (log, 2)):
        os.dup2(descriptor, number)
    close_all_but({lock})
