"""A process that has imported what a program needs, and forks one for each request.

``tests.support.forked_process`` starts one for each worker of the tests and each program. A request
comes as one message on the control socket: what the process gets, as JSON, and four descriptors:
its standard ones, and a socket for its report. The report is the process' number, with a descriptor
of it (pidfd_open(2)), and later its exit status. The server ends when nobody holds the other end of
the control socket any more; what it has forked goes on, as after the end of any parent.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import socket
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, TypedDict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import click

COMMAND = "fork-server"
READY = b"ready"
DESCRIPTORS = 4
MAX_REQUEST_BYTES = 1 << 17
_PIDFD_OPEN = 434
"""The number of the system call, on all machines."""
PRELOADED = (
    "footplate.server.serving",
    "grpc.aio",
    "footplate.grpc_api.port",
    "footplate.grpc_api.schema",
    "footplate.server.certificate_authority",
    "cryptography.hazmat.primitives.asymmetric.rsa",
    "footplate.control.suggestions.tuner_functions",
    "scipy.stats",
    "uvicorn.lifespan.off",
    "uvicorn.loops.asyncio",
    "encodings.idna",
    "footplate_reduction.__main__",
    "reduction.tests.worker",
)
"""What a server imports only when it is needed, beside what the command ``up`` imports; and
reducers and their workers."""


class Request(TypedDict):
    """What a process gets beside its descriptors."""

    module: str
    words: list[str]
    cwd: str
    environment: dict[str, str]
    new_session: bool


def serve() -> Callable[[], object]:
    """Return the program of each process that is forked, in it."""
    import numpy as np

    from footplate.replica.process_title import ProcessTitle

    title = ProcessTitle.find(COMMAND)
    preload()
    request = serve_program()
    np.random.seed()  # the module random does that by itself
    sys.argv = ["-c", *request["words"]]
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        stream = _open(descriptor, getattr(sys, name))
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    title.change(request["words"])
    program: Callable[[], object] = importlib.import_module(request["module"]).main
    return program


def serve_program(variables: Mapping[str, str] | None = None) -> Request:
    """Return what was asked for in each process that is forked.

    The last words of the command line are ``fork-server``, the control socket's descriptor, and
    blanks that make room for the words of the forked processes. These have ``variables``, too.
    """
    control = socket.socket(fileno=int(sys.argv[-2]))
    threads = list(Path("/proc/self/task").iterdir())
    assert len(threads) == 1, f"an import has started threads, which no fork has: {threads}"
    gc.collect()
    gc.freeze()  # its pages stay shared
    control.send(READY)
    request, descriptors = _wait_for_request(control)
    _become(request, descriptors, variables or {})
    return request


def preload() -> None:
    from footplate.cli.main import main

    _import_commands(main)
    for name in PRELOADED:
        importlib.import_module(name)


def _import_commands(group: click.Group) -> None:
    import click

    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            _import_commands(command)


def _wait_for_request(control: socket.socket) -> tuple[Request, list[int]]:
    """Serve; return in each forked process."""
    running: dict[int, tuple[int, socket.socket]] = {}
    poll = select.poll()
    poll.register(control, select.POLLIN)
    while True:
        for ready, _ in poll.poll():
            if ready in running:
                poll.unregister(ready)
                _report_end(ready, *running.pop(ready))
                continue
            message, descriptors, _, _ = socket.recv_fds(
                control, MAX_REQUEST_BYTES, DESCRIPTORS, socket.MSG_CMSG_CLOEXEC
            )
            if not message:
                sys.exit()
            pid = os.fork()
            report = socket.socket(fileno=descriptors[-1])
            if pid == 0:
                for each in (control, report, *(owned for _, owned in running.values())):
                    each.detach()  # all descriptors are closed at once
                return json.loads(message), descriptors
            pidfd = _open_pidfd(pid)
            running[pidfd] = pid, report
            poll.register(pidfd, select.POLLIN)
            for descriptor in descriptors[:-1]:
                os.close(descriptor)
            socket.send_fds(report, [str(pid).encode()], [pidfd])


def _open_pidfd(pid: int) -> int:
    if hasattr(os, "pidfd_open"):
        return os.pidfd_open(pid)
    import ctypes  # gcloud's own Python is built without

    pidfd: int = ctypes.CDLL(None, use_errno=True).syscall(_PIDFD_OPEN, pid, 0)
    if pidfd == -1:
        raise OSError(ctypes.get_errno(), "pidfd_open")
    return pidfd


def _report_end(pidfd: int, pid: int, report: socket.socket) -> None:
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(pidfd)
    with report:
        try:
            report.send(str(status).encode())
        except BrokenPipeError:
            return  # whoever has started it no longer wants to know


def _become(request: Request, descriptors: list[int], variables: Mapping[str, str]) -> None:
    """Make of this process what a new one would be. Signals are as they were at its start."""
    if request["new_session"]:
        os.setsid()
    else:
        os.setpgid(0, 0)  # a signal for its group isn't one for the server
    for number, descriptor in enumerate(descriptors[:3]):
        os.dup2(descriptor, number)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update({**request["environment"], **variables})
    time.tzset()


def _open(descriptor: int, like: TextIO) -> TextIO:
    """Whether lines go out at once depends on what the descriptor is now."""
    return open(
        descriptor,
        "r" if descriptor == 0 else "w",
        1 if descriptor == 2 else -1,
        encoding=like.encoding,
        errors=like.errors,
        newline="\n",
        closefd=False,
    )
