"""Shells in containers, started by the engine as the image's user.

this process ── reader (the shell's output) ──┐
             └─ writer (what is typed) ───────┴── the engine's socket ── shell
"""

from __future__ import annotations

import os
import signal
import socket

from footplate.containers.engine_api import Attachment, Engine, EngineError, EngineGone
from footplate.replica.isolation import syscalls
from footplate.replica.isolation.containment import Unavailable
from footplate.replica.isolation.procfs import Process, boot_id, is_alive
from footplate.replica.isolation.spawn import close_all_but, spawn
from footplate.replica.shell.shell_process import ShellProcess

TYPE_CHECKING = False  # without the module typing, which isn't needed
if TYPE_CHECKING:
    from typing import Callable, Dict, Tuple

    from footplate.protocol.isolation_record import IsolationRecord
    from footplate.replica.shell.shell_process import ShellRequest

_FIND_SHELL = (
    'for shell in bash sh; do command -v "$shell" >/dev/null 2>&1 && exec "$shell" "$@"; done'
)
_AT_ONCE_BYTES = 32768


class ContainerEntry:
    """The entry to a program's container, described by the ``record`` that the supervisor wrote for
    cleanup.
    """

    def __init__(self, record: IsolationRecord) -> None:
        """Finds the running program. Raises Unavailable if no program runs there."""
        if record.boot != boot_id() or not record.init:
            raise Unavailable("the replica's program isn't running")
        self._engine = Engine(record.engine)
        self._container = record.container
        self._program = Process(record.init, 0, record.start, zombie=False)
        if not self.alive:
            raise Unavailable("the replica's program isn't running")

    @property
    def alive(self) -> bool:
        """Says whether the program still runs."""
        return is_alive(self._program)

    def start(self, wanted: ShellRequest) -> ContainerShellProcess:
        """Starts a shell in the container. Raises Unavailable, SpawnFailed, OSError; nothing was
        started then.
        """
        terminal = wanted.command is None
        spec = {
            "AttachStdin": True,
            "AttachStdout": True,
            "AttachStderr": True,
            "Tty": terminal,
            "Env": [f"TERM={wanted.term}"] if terminal else [],
            "Cmd": ["sh", "-c", _FIND_SHELL, "sh", *wanted.arguments],
        }
        try:
            made = self._engine.call("POST", f"/containers/{self._container}/exec", spec)
            execution = str(made["Id"])
            start = {"Detach": False, "Tty": terminal}
            connection, early = self._engine.upgrade(f"/exec/{execution}/start", start)
        except (EngineError, EngineGone, KeyError) as error:
            raise Unavailable(f"the container engine can't start a shell: {error}") from error
        with connection:
            inside = _connect(self._engine, execution, connection, early, terminal=terminal)
        if terminal:
            inside.resize(wanted.size)
        return inside


class ContainerShellProcess(ShellProcess):
    """A shell in the program's container; ``execution`` is the engine's id of the shell."""

    def __init__(
        self,
        engine: Engine,
        execution: str,
        reader: int,
        entrance: int,
        streams: Dict[int, str],
        *,
        terminal: bool,
    ) -> None:
        super().__init__(reader, entrance, streams, terminal=terminal)
        self._engine = engine
        self._execution = execution
        self._rising = [signal.SIGKILL, signal.SIGHUP]

    def resize(self, size: Tuple[int, int]) -> None:
        columns, rows = size
        path = f"/exec/{self._execution}/resize?w={columns}&h={rows}"
        try:
            self._engine.call("POST", path)
        except (EngineError, EngineGone):  # it has ended, or has no terminal
            return

    def hang_up(self) -> None:
        """Sends the shell a hang-up signal; processes that can't be signalled from here end with
        the container.
        """
        number = self._rising.pop() if len(self._rising) > 1 else self._rising[0]
        try:
            found = self._engine.call("GET", f"/exec/{self._execution}/json")
            if found.get("Running") and int(found.get("Pid") or 0) > 1:
                os.kill(int(found["Pid"]), number)
        except (EngineError, EngineGone, OSError):  # it has ended
            pass
        if number == signal.SIGKILL:
            super().hang_up()


def _connect(
    engine: Engine, execution: str, connection: socket.socket, early: bytes, *, terminal: bool
) -> ContainerShellProcess:
    (output, output_end), (errors, complained), (typed, entrance) = (os.pipe() for _ in range(3))
    theirs = (output_end, complained, typed)

    def read() -> None:
        attachment = Attachment(connection, early, multiplexed=not terminal)
        while True:
            pieces = attachment.read()
            if pieces is None:
                break
            for stream, piece in pieces:
                _write(complained if stream == 2 else output_end, piece)
        found = engine.call("GET", f"/exec/{execution}/json")
        os._exit(int(found.get("ExitCode") or 0) & 255)

    def write() -> None:
        while data := os.read(typed, _AT_ONCE_BYTES):
            connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)

    try:
        reader = _fork(read, connection.fileno(), output_end, complained)
        _fork(write, connection.fileno(), typed)
    except BaseException:
        for descriptor in (output, errors, entrance):
            os.close(descriptor)
        raise
    finally:
        for descriptor in theirs:
            os.close(descriptor)
    streams = {output: "stdout", errors: "stderr"}
    return ContainerShellProcess(engine, execution, reader, entrance, streams, terminal=terminal)


def _fork(body: Callable[[], None], *kept: int) -> int:
    """Forks a child that runs ``body``, and that ends when this process ends."""
    parent = os.getpid()

    def run(ready: int) -> None:
        close_all_but({ready, *kept})
        syscalls.die_with_parent(signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
        os.close(ready)
        try:
            body()
        except (OSError, EngineError):  # the code says it
            os._exit(1)
        os._exit(0)

    return spawn(run)


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
